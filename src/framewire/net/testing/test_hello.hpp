#pragma once

#include "framewire/net/stream/stream_state.hpp"
#include "framewire/net/wire/wire.hpp"

#include <string>

namespace framewire::net::testing {

/// What a viewer says that has nothing yet.
inline Bytes hello_for(const std::string& stream) { return viewer_hello({.stream = stream}); }

/// What a server says of a stream whose state is not this process's, or of none.
inline ServerHello hello_of(const StreamInfo& info) { return {.epoch = 1, .info = info}; }
inline ServerHello hello_of(const StreamState& state) { return {.epoch = state.epoch(), .info = state.info()}; }
inline Bytes greeting_of(const StreamState& state) { return server_hello(hello_of(state)); }

/// All blocks of a state, coded.
inline std::shared_ptr<const WholeState> all_of(StreamState& state) {
    return state.whole(delta::BlockSet(state.blocks(), 1));
}
/// The newest state as one message; version 0 before there is one.
inline StateMessage picture_of(StreamState& state) {
    const auto whole = all_of(state);
    return whole ? whole->picture : StateMessage{};
}

}  // namespace framewire::net::testing
