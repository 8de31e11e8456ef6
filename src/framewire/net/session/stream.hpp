#pragma once

#include "framewire/net/session/control.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/net/session/viewers/viewer.hpp"
#include "framewire/net/stream/stream_state.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace framewire::net {

/// State of a stream inside its server. Only the loop's thread uses it unless stated otherwise.
struct Stream {
    /// Encodes the messages that are equal for all viewers.
    Stream(std::string name, StreamState& state, Control control);

    const std::string name;
    StreamState& state;
    /// The hello in the current protocol version and in oldest_wire_version.
    const std::shared_ptr<const Bytes> hello, oldest_hello;
    /// The end message, or the error that replaces it.
    std::shared_ptr<const Bytes> last_words;
    /// If true, no new viewers are accepted.
    bool ending = false;
    std::set<ViewerPointer> viewers;
    /// True while a worker encodes blocks for viewers.
    bool coding_blocks = false;
    /// Number of control requests being handled.
    int controls_under_way = 0;
    /// Called once when no blocks are being encoded and no control request is being handled.
    std::function<void()> when_idle;

    /// Returns true if no worker uses the stream.
    bool idle() const { return !coding_blocks && controls_under_way == 0; }
    /// Calls `when_idle` if the stream is idle. The stream may be destroyed by that.
    void tell_when_idle() {
        if (!idle()) return;
        if (const auto call = std::exchange(when_idle, nullptr)) call();
    }
    /// Called on the loop's work thread. Null: the stream accepts no control requests.
    Control control;

    /// True while a publish() is posted to the loop. Used by any thread.
    std::atomic<bool> publishing{false};

    // Guarded by the tally's mutex.
    StreamMetrics metrics{};
    /// How many of metrics.viewers have taken a complete state.
    int begun_viewers = 0;
    /// Viewers that were sent the end and have not disconnected.
    int ending_viewers = 0;
    /// True once end() has been called.
    bool closed_to_new = false;
};

/// The streams of a server by name.
using Streams = std::map<std::string, std::unique_ptr<Stream>, std::less<>>;

}  // namespace framewire::net
