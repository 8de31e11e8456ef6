#include "framewire/net/limits/greeting_places.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::net {
namespace greeting_places_test {

std::string peer(int number) { return "192.0.2." + std::to_string(number); }

TEST(GreetingPlaces, EvictsTheOldestOfAPeerAtItsLimit) {
    GreetingPlaces places(10, 3);
    EXPECT_FALSE(places.enter(1, peer(2)));
    for (const GreetingPlaces::Number number : {2, 3, 4}) EXPECT_FALSE(places.enter(number, peer(1)));
    for (const GreetingPlaces::Number number : {5, 6, 7, 8}) {
        const auto eviction = places.enter(number, peer(1));
        ASSERT_TRUE(eviction);
        EXPECT_EQ(eviction->connection, number - 3);
        EXPECT_TRUE(eviction->of_same_peer);
    }
    places.leave(7);
    EXPECT_FALSE(places.enter(9, peer(1)));
    places.leave(99);  // has no place
}

TEST(GreetingPlaces, EvictsTheOldestOfThePeerWithTheMost) {
    GreetingPlaces places(6, 4);
    EXPECT_FALSE(places.enter(1, peer(1)));
    for (const GreetingPlaces::Number number : {2, 3}) EXPECT_FALSE(places.enter(number, peer(2)));
    for (const GreetingPlaces::Number number : {4, 5, 6}) EXPECT_FALSE(places.enter(number, peer(3)));
    for (const auto& [number, goes] : {std::pair{7, 4}, {8, 2}, {9, 5}, {10, 1}}) {
        const auto eviction = places.enter(static_cast<GreetingPlaces::Number>(number), peer(number));
        ASSERT_TRUE(eviction);
        EXPECT_EQ(eviction->connection, static_cast<GreetingPlaces::Number>(goes)) << "for " << number;
        EXPECT_FALSE(eviction->of_same_peer);
    }
}

}  // namespace greeting_places_test
}  // namespace framewire::net
