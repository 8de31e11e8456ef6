#pragma once

#include "framewire/net/session/metrics.hpp"
#include "framewire/net/session/viewer.hpp"
#include "framewire/net/stream/stream_state.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace framewire::net {

/// A stream as its server knows it. Only the loop's thread touches it, but for what is said.
struct Stream {
    Stream(std::string name, StreamState& state);

    const std::string name;
    StreamState& state;
    const std::shared_ptr<const Bytes> hello;
    std::shared_ptr<const Bytes> last_words;  ///< the end, or the error in its place
    bool ending = false;                      ///< no new viewers
    std::set<ViewerPointer> viewers;
    bool packing_picture = false;
    std::function<void()> when_packed;  ///< called once when no picture is being packed any more

    std::atomic<bool> publishing{false};  ///< any thread's

    // Guarded by the tally's mutex.
    StreamMetrics metrics{};
    int ending_viewers = 0;
    bool closed_to_new = false;
};

using Streams = std::map<std::string, std::unique_ptr<Stream>, std::less<>>;

}  // namespace framewire::net
