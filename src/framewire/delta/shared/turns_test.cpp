#include "framewire/delta/shared/turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::delta {
namespace turns_test {

TEST(Turns, AreHadInTheOrderInWhichTheyWereTaken) {
    Turns turns;
    std::vector<Turns::Turn> taken;
    for (int i = 0; i < 20; ++i) taken.push_back(turns.take());
    std::vector<int> order;  // of whose turn it was: only one at a time
    {
        std::vector<std::jthread> threads;
        for (int i = 19; i >= 0; --i)
            threads.emplace_back([&, i] {
                auto turn = std::move(taken[static_cast<std::size_t>(i)]);
                turn.wait();
                order.push_back(i);
                turn.end();
                EXPECT_FALSE(turn);
            });
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    EXPECT_FALSE(turns.any_open());
}

TEST(Turns, ThoseGivenUpHoldNobody) {
    Turns turns;
    auto first = turns.take();
    auto last = [&] {
        auto given_up = turns.take();
        const auto too = turns.take();
        return turns.take();
    }();
    std::atomic<bool> had = false;
    std::jthread waits([&] {
        last.wait();
        had = true;
        last.end();
    });
    EXPECT_FALSE(had);  // the first one has not ended
    EXPECT_TRUE(turns.any_open());
    first = turns.take();  // ends it; the new one comes after the last
    waits.join();
    EXPECT_TRUE(had);
    EXPECT_TRUE(turns.any_open());
    first.wait();
    first.end();
    EXPECT_FALSE(turns.any_open());
}

}  // namespace turns_test
}  // namespace framewire::delta
