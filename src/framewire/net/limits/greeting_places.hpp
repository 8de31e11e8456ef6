#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace framewire::net {

/// Handshake limiter: bounds how many connections may be open before they have sent their hello or request. A new
/// connection always gets a place; if none is free, an older connection loses its own. Silent connections, however
/// many, therefore cannot exclude a client that completes its handshake. Not thread-safe.
class GreetingPlaces {
public:
    /// Number of a connection; later connections have greater numbers.
    using Number = std::uint64_t;

    /// Limits for all peers and for each peer, both at least 1.
    GreetingPlaces(int limit, int limit_per_peer);

    /// The connection that lost its place.
    struct Eviction {
        Number connection = 0;
        /// True if its peer had reached its own limit; false if all places were taken.
        bool of_same_peer = false;
    };
    /// Gives `connection` of `peer` a place and returns the connection that lost its own, if any: the peer's oldest if
    /// the peer has reached its limit; otherwise, if all places are taken, the oldest connection of the peer that holds
    /// the most.
    std::optional<Eviction> enter(Number connection, const std::string& peer);
    /// Frees the place of `connection`. Does nothing if it has none.
    void leave(Number connection);

private:
    struct Place {
        Number connection = 0;
        std::string peer;
    };
    using Places = std::vector<Place>;
    void free(Places::const_iterator place);

    int limit_, limit_per_peer_;
    Places places_;                     // by age, the oldest first
    std::map<std::string, int> taken_;  // places per peer; no count is 0
};

/// Returns the peer under which a connection enters. A trusted proxy holds connections of many clients, so each of them
/// counts as a separate peer.
std::string place_holder(GreetingPlaces::Number connection, const std::string& peer, bool is_proxy);

}  // namespace framewire::net
