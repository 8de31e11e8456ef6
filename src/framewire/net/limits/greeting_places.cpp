#include "framewire/net/limits/greeting_places.hpp"

#include <algorithm>

namespace framewire::net {

GreetingPlaces::GreetingPlaces(int limit, int limit_per_peer) : limit_(limit), limit_per_peer_(limit_per_peer) {
    // enter() never holds more than `limit` places, because it frees one before it adds one.
    places_.reserve(static_cast<std::size_t>(limit) + 1);
}

std::optional<GreetingPlaces::Eviction> GreetingPlaces::enter(Number connection, const std::string& peer) {
    auto loser = places_.cend();
    const bool of_same_peer = taken_[peer] >= limit_per_peer_;
    if (of_same_peer)
        loser = std::find_if(places_.cbegin(), places_.cend(), [&](const Place& place) { return place.peer == peer; });
    else if (places_.size() >= static_cast<std::size_t>(limit_))
        // max_element returns the first maximum, which is the oldest connection of that peer.
        loser = std::max_element(places_.cbegin(), places_.cend(), [this](const Place& a, const Place& b) {
            return taken_.at(a.peer) < taken_.at(b.peer);
        });
    ++taken_[peer];
    std::optional<Eviction> eviction;
    if (loser != places_.cend()) {
        eviction = {loser->connection, of_same_peer};
        free(loser);
    }
    places_.push_back({connection, peer});
    return eviction;
}

std::string place_holder(GreetingPlaces::Number connection, const std::string& peer, bool is_proxy) {
    return is_proxy ? peer + ' ' + std::to_string(connection) : peer;
}

void GreetingPlaces::leave(Number connection) {
    const auto found = std::find_if(places_.cbegin(), places_.cend(),
                                    [&](const Place& place) { return place.connection == connection; });
    if (found != places_.cend()) free(found);
}

void GreetingPlaces::free(Places::const_iterator place) {
    const auto taken = taken_.find(place->peer);
    if (--taken->second == 0) taken_.erase(taken);
    places_.erase(place);
}

}  // namespace framewire::net
