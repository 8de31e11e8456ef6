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
    Stream(std::string name, StreamState& state, std::function<std::string(const std::string&)> control);

    const std::string name;
    StreamState& state;
    const std::shared_ptr<const Bytes> hello;
    std::shared_ptr<const Bytes> last_words;  ///< the end, or the error in its place
    bool ending = false;                      ///< no new viewers
    std::set<ViewerPointer> viewers;
    bool coding_blocks = false;
    std::function<void()> when_coded;  ///< called once when no blocks are being coded any more
    /// Sees to a viewer's wish, on the loop's other thread: gives why not, empty where it was done. None: takes none.
    std::function<std::string(const std::string&)> control;

    std::atomic<bool> publishing{false};  ///< any thread's

    // Guarded by the tally's mutex.
    StreamMetrics metrics{};
    int ending_viewers = 0;
    bool closed_to_new = false;
};

using Streams = std::map<std::string, std::unique_ptr<Stream>, std::less<>>;

}  // namespace framewire::net
