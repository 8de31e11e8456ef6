#pragma once

#include "fuzz/net/small_stream.hpp"

#include "framewire/net/sessions.hpp"
#include "framewire/net/testing/test_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace framewire::fuzz {

/// Message that advances a SmallStream to another state.
struct SentMessage {
    net::MessageType type{};
    net::Bytes content;
    net::Bytes picture;  ///< picture of a viewer that has taken all messages up to this one
};

/// Returns the messages that a server sends to a viewer after the hello, for ten frames.
inline std::vector<SentMessage> sent_by_a_server() {
    using namespace net;
    testing::ManualLoop loop;
    SmallStream stream;
    Sessions sessions({.viewers = 1,
                       .pending_connections = {1, 1, std::chrono::seconds(5), std::chrono::seconds(5)},
                       .viewer_deadlines = {std::chrono::seconds(5), std::chrono::seconds(1)}},
                      loop);
    auto& served = sessions.add("main", stream.state);
    auto [near, far] = testing::connection_pair(loop, "a viewer", std::size_t{1} << 20);
    sessions.come(std::move(near));
    testing::MemoryPeer viewer(loop, std::move(far));
    viewer.say(viewer_hello({.stream = "main"}));
    viewer.hear();
    std::vector<SentMessage> messages;
    const auto limit = codec::max_packed_bytes(stream.shape);
    for (int i = 0; i < 10; ++i) {
        stream.step();
        sessions.publish(served);
        loop.run();
        const auto heard = viewer.hear();
        for (ByteSpan rest(heard); !rest.empty();) {
            const auto header = read_header(rest.first(header_bytes), limit);
            const auto content = rest.subspan(header_bytes, header.length_bytes);
            const bool of_the_state = header.type == MessageType::picture || header.type == MessageType::changes;
            const auto picture = stream.reference();
            if (of_the_state)
                messages.push_back({header.type, Bytes(content.begin(), content.end()),
                                    Bytes(picture.data(), picture.data() + SmallStream::shape.bytes())});
            rest = rest.subspan(header_bytes + header.length_bytes);
        }
        viewer.say(drawn_message({.messages = messages.size(), .version = static_cast<std::uint64_t>(i) + 1}));
    }
    if (messages.size() < 10) std::abort();
    return messages;
}

}  // namespace framewire::fuzz
