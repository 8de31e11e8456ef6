#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace framewire::net {

/// Sends control requests to a server that accepts them, as texts that the server's program parses. Thread-safe.
class RemoteControl {
public:
    virtual ~RemoteControl() = default;
    /// Returns the settings that can be changed, as the server last reported them. Empty before the first report.
    virtual std::string state() const = 0;
    /// Queues a control request. It is sent once the previous one has been answered.
    virtual void request(const std::string& text) = 0;
    /// Returns why the server refused the last request that it answered. Empty if the server accepted that request.
    virtual std::string refusal() const = 0;
};

/// Handles a viewer's control request and returns the resulting settings; an empty request changes nothing and only
/// returns the settings. If it throws, the exception's text tells the viewer why the request was refused. Called on the
/// loop's work thread.
using Control = std::function<std::string(const std::string& control_request)>;

/// Statistics of one stream. Bytes are counted once the whole write has completed.
struct StreamMetrics {
    /// Viewers connected now.
    int viewers = 0;
    /// Viewers accepted so far.
    std::int64_t viewers_total = 0;
    /// Viewers that the server disconnected: stuck, slowest of too many, or violating the protocol.
    std::int64_t dropped = 0;
    /// Keyframes sent, summed over viewers.
    std::int64_t keyframes = 0;
    /// Delta frames sent, summed over viewers.
    std::int64_t delta_frames = 0;
    /// Versions that viewers skipped because they were too slow.
    std::int64_t skipped = 0;
    /// Bytes of keyframes and of single blocks.
    std::int64_t keyframe_bytes = 0;
    /// Bytes of delta frames.
    std::int64_t delta_frame_bytes = 0;
    /// Bytes of hellos, keep-alives, ends and errors.
    std::int64_t other_bytes = 0;
};

/// Statistics over all connections and streams of a server.
struct ServerMetrics : StreamMetrics {
    /// Connections refused: no such stream, too many, no valid hello, hello too late.
    std::int64_t refused = 0;
    /// Memory that pending responses hold now, in bytes. A shared message counts once.
    std::int64_t pinned_bytes = 0;
};

}  // namespace framewire::net
