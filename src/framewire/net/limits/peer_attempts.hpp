#pragma once

#include "framewire/core/time/clock.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

namespace framewire::net {

/// How often each peer (Connection::peer()) tried something: so many times in a window that begins with the first.
/// Memory is bounded: where too many peers are known the one is forgotten whose window began first.
class PeerAttempts {
public:
    /// Both counts are at least 1.
    PeerAttempts(int limit, Clock::duration window, std::size_t most_peers);

    /// Whether the peer has none left in its window.
    bool exhausted(const std::string& peer, Clock::time_point now) const;
    void add(const std::string& peer, Clock::time_point now);
    /// Nothing of the peer is known any more.
    void forget(const std::string& peer);

private:
    struct Window {
        std::string peer;
        Clock::time_point end;
        int attempts = 0;
    };
    using Windows = std::list<Window>;

    const int limit_;
    const Clock::duration window_;
    const std::size_t most_peers_;
    Windows windows_;  // the oldest first
    std::unordered_map<std::string, Windows::iterator> by_peer_;
};

}  // namespace framewire::net
