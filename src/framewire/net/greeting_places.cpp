#include "framewire/net/greeting_places.hpp"

#include <algorithm>

namespace framewire::net {

namespace ip = boost::asio::ip;

GreetingPlaces::GreetingPlaces(int limit, int limit_per_peer) : limit_(limit), limit_per_peer_(limit_per_peer) {
    places_.reserve(static_cast<std::size_t>(limit) + 1);
}

int GreetingPlaces::taken_by(const ip::address& peer) const {
    return static_cast<int>(
        std::count_if(places_.begin(), places_.end(), [&](const Place& place) { return place.peer == peer; }));
}

std::optional<GreetingPlaces::Eviction> GreetingPlaces::enter(Number connection, const ip::address& peer) {
    auto loser = places_.end();
    const bool of_same_peer = taken_by(peer) >= limit_per_peer_;
    if (of_same_peer)
        loser = std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.peer == peer; });
    else if (places_.size() >= static_cast<std::size_t>(limit_))
        // The first of the greatest.
        loser = std::max_element(places_.begin(), places_.end(), [this](const Place& a, const Place& b) {
            return taken_by(a.peer) < taken_by(b.peer);
        });
    std::optional<Eviction> eviction;
    if (loser != places_.end()) {
        eviction = {loser->connection, of_same_peer};
        places_.erase(loser);
    }
    places_.push_back({connection, peer});
    return eviction;
}

void GreetingPlaces::leave(Number connection) {
    std::erase_if(places_, [&](const Place& place) { return place.connection == connection; });
}

}  // namespace framewire::net
