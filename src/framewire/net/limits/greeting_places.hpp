#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace framewire::net {

/// Who may be connected without having said hello. Whoever comes gets a place; when there is none left, somebody else
/// gives theirs up. So silent connections, however many, keep nobody out.
class GreetingPlaces {
public:
    using Number = std::uint64_t;  ///< of a connection; later ones have greater ones

    /// Both at least 1.
    GreetingPlaces(int limit, int limit_per_peer);

    struct Eviction {
        Number connection = 0;
        bool of_same_peer = false;  ///< the peer's own places were full, not all of them
    };
    /// Gives `connection` of `peer` a place. What comes back has lost its: the peer's oldest when it has too many,
    /// else, when all places are taken, the oldest of those whose peer has most.
    std::optional<Eviction> enter(Number connection, const std::string& peer);
    /// The place is free again; nothing when there was none.
    void leave(Number connection);

private:
    struct Place {
        Number connection = 0;
        std::string peer;
    };
    using Places = std::vector<Place>;
    void free(Places::const_iterator place);

    int limit_, limit_per_peer_;
    Places places_;                     // the oldest first
    std::map<std::string, int> taken_;  // by each peer that has some
};

/// The peer as which a connection enters. A trusted proxy brings connections of many peers: each counts as one of its
/// own.
std::string place_holder(GreetingPlaces::Number connection, const std::string& peer, bool is_proxy);

}  // namespace framewire::net
