#pragma once

#include "framewire/core/time/clock.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

namespace framewire::net {

/// Counts the attempts of each peer (Connection::peer()) in a window that starts with the first attempt. Memory is
/// bounded: if too many peers are known, the one whose window started first is forgotten. Not thread-safe.
class PeerAttempts {
public:
    /// `limit` attempts are allowed per `window`; at most `most_peers` peers are known. Both counts are at least 1.
    PeerAttempts(int limit, Clock::duration window, std::size_t most_peers);

    /// Returns true if the peer has used all attempts of its current window.
    bool exhausted(const std::string& peer, Clock::time_point now) const;
    /// Counts one attempt of the peer and starts a window if it has none.
    void add(const std::string& peer, Clock::time_point now);
    /// Forgets the peer and its attempts.
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
    Windows windows_;  // by start, the oldest first
    std::unordered_map<std::string, Windows::iterator> by_peer_;
};

}  // namespace framewire::net
