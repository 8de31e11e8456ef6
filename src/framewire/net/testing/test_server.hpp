#pragma once

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/net/wire.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

namespace framewire::net::testing {

inline ServerOptions on_any_port() {
    ServerOptions options;
    options.listen = {"127.0.0.1", 0};
    return options;
}

inline void expect_code(ErrorCode code, const std::string& part, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "no error; wanted: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

/// Receives messages until the client holds `version` or a later one.
inline void follow(Client& client, std::uint64_t version) {
    while (client.state().version < version) ASSERT_TRUE(client.next());
}

/// Reads the error that a server sent to a refused viewer.
inline ServerError refusal_in(const Bytes& answer) {
    if (answer.size() <= preamble_bytes + header_bytes) return {{}, "not a word"};
    read_server_preamble(ByteSpan(answer).first(preamble_bytes));
    return read_error(ByteSpan(answer).subspan(preamble_bytes + header_bytes));
}

/// Returns a viewer that has read the server's hello and the header of its first keyframe, and reads no more.
inline RawConnection stuck_in_a_picture(const Server& server, const StreamState& state) {
    auto viewer = RawConnection::connect(server.address().server.port, 4096);
    EXPECT_TRUE(viewer.send(hello_for(server.address().stream)));
    EXPECT_EQ(viewer.read_exactly(greeting_of(state).size()), greeting_of(state));
    const auto header = viewer.read_exactly(header_bytes);
    EXPECT_EQ(header.at(0), static_cast<std::uint8_t>(MessageType::picture));
    return viewer;
}

}  // namespace framewire::net::testing
