#pragma once

#include "framewire/net/stream_state.hpp"
#include "framewire/net/wire.hpp"

#include <string>

namespace framewire::net::testing {

/// Returns the hello of a viewer that holds no blocks.
inline Bytes hello_for(const std::string& stream) { return viewer_hello({.stream = stream}); }

/// Returns the hello of a server for a stream that has no StreamState in this process.
inline ServerHello hello_of(const StreamInfo& info) { return {.epoch = 1, .info = info}; }
inline ServerHello hello_of(const StreamState& state) { return {.epoch = state.epoch(), .info = state.info()}; }
inline Bytes greeting_of(const StreamState& state) { return server_hello(hello_of(state)); }

/// Returns the newest state with all blocks encoded.
inline std::shared_ptr<const WholeState> all_of(StreamState& state) {
    return state.whole(codec::BlockSet(state.blocks(), 1));
}
/// Returns the newest state as a keyframe message; its version is 0 if there is no state.
inline StateMessage picture_of(StreamState& state) {
    const auto whole = all_of(state);
    return whole ? whole->picture : StateMessage{};
}

}  // namespace framewire::net::testing
