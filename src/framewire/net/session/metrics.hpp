#pragma once

#include <cstdint>

namespace framewire::net {

/// What went to viewers so far. What was sent counts once it was taken as a whole.
struct StreamMetrics {
    int viewers = 0;                 ///< now
    std::int64_t viewers_total = 0;  ///< who got the stream's hello
    std::int64_t dropped = 0;        ///< viewers cut off: stuck, the slowest of too many, or talking out of turn
    std::int64_t pictures = 0;       ///< whole pictures sent, each viewer's counted
    std::int64_t steps = 0;          ///< steps sent, each viewer's counted
    std::int64_t skipped = 0;        ///< versions passed over by viewers too slow for them
    std::int64_t picture_bytes = 0;
    std::int64_t step_bytes = 0;
    std::int64_t other_bytes = 0;  ///< hellos, keep-alives, ends and errors
};

/// The same over all connections and streams of a server.
struct ServerMetrics : StreamMetrics {
    std::int64_t refused = 0;       ///< turned away: no such stream, too many, no valid hello, too slow with it
    std::int64_t pinned_bytes = 0;  ///< now: what answers on their way keep in memory, shared ones once
};

}  // namespace framewire::net
