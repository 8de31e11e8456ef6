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

/// A stream as its server knows it. Only the loop's thread touches it, but for what is said.
struct Stream {
    Stream(std::string name, StreamState& state, Control control);

    const std::string name;
    StreamState& state;
    const std::shared_ptr<const Bytes> hello, oldest_hello;  ///< the latter of oldest_wire_version
    std::shared_ptr<const Bytes> last_words;                 ///< the end, or the error in its place
    bool ending = false;                                     ///< no new viewers
    std::set<ViewerPointer> viewers;
    bool coding_blocks = false;
    int controls_under_way = 0;
    std::function<void()> when_idle;  ///< called once when no blocks are being coded and no wishes seen to any more

    bool idle() const { return !coding_blocks && controls_under_way == 0; }
    /// The stream may be gone after it.
    void tell_when_idle() {
        if (!idle()) return;
        if (const auto call = std::exchange(when_idle, nullptr)) call();
    }
    Control control;  ///< called on the loop's other thread; none: takes no wishes

    std::atomic<bool> publishing{false};  ///< any thread's

    // Guarded by the tally's mutex.
    StreamMetrics metrics{};
    int begun_viewers = 0;  ///< of those in metrics.viewers, those that have taken a whole state
    int ending_viewers = 0;
    bool closed_to_new = false;
};

using Streams = std::map<std::string, std::unique_ptr<Stream>, std::less<>>;

}  // namespace framewire::net
