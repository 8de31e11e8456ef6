#pragma once

#include <cstdint>

namespace framewire::net {

/// Statistics of one stream. Bytes count when a connection has taken the whole write.
struct StreamMetrics {
    /// Viewers at present.
    int viewers = 0;
    /// Viewers that were accepted.
    std::int64_t viewers_total = 0;
    /// Viewers that the server disconnected: stuck, slowest of too many, or violating the protocol.
    std::int64_t dropped = 0;
    /// Keyframes sent, summed over viewers.
    std::int64_t pictures = 0;
    /// Delta frames sent, summed over viewers.
    std::int64_t steps = 0;
    /// Versions that viewers skipped because they were too slow.
    std::int64_t skipped = 0;
    /// Bytes of keyframes and of single blocks.
    std::int64_t picture_bytes = 0;
    /// Bytes of delta frames.
    std::int64_t step_bytes = 0;
    /// Bytes of hellos, keep-alives, ends and errors.
    std::int64_t other_bytes = 0;
};

/// Statistics over all connections and streams of a server.
struct ServerMetrics : StreamMetrics {
    /// Connections refused: no such stream, too many, no valid hello, hello too late.
    std::int64_t refused = 0;
    /// Bytes that pending responses hold in memory at present. Shared messages count once.
    std::int64_t pinned_bytes = 0;
};

}  // namespace framewire::net
