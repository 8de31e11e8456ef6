#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/http/exchange.hpp"
#include "framewire/net/http/feed_client.hpp"
#include "framewire/net/http/request/request_reader.hpp"
#include "framewire/net/http/request/target.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/websocket/connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::net::http {

/// A connection that speaks HTTP as its server knows it. Only the loop's thread touches it.
struct Visitor : std::enable_shared_from_this<Visitor> {
    enum class Phase {
        waiting,    ///< a request is, or is to be, read
        handled,    ///< a request is seen to elsewhere; nothing is read
        answering,  ///< an answer is written
        upgrading,  ///< it becomes a WebSocket
        proving,    ///< a WebSocket whose first message is to have the token
        feeding,    ///< it is sent a feed's parts, as they come
        leaving,    ///< it was answered for the last time, and its closing is awaited
        gone,
    };

    Visitor(std::uint64_t number_, ConnectionPointer connection_, Clock::time_point now)
        : number(number_),
          connection(std::move(connection_)),
          name(connection->name()),
          peer(connection->peer()),
          since(now),
          progress(now) {}

    std::uint64_t number;
    ConnectionPointer connection;
    bool is_proxy = false;   ///< its other end is a trusted proxy
    std::string name, peer;  ///< the connection's, or those of the client that a trusted proxy speaks for
    WebSocketConnection* socket = nullptr;  ///< the connection, where it is one
    Phase phase = Phase::waiting;
    Clock::time_point since;     ///< of the phase; where a request is awaited, since its first byte
    Clock::time_point progress;  ///< when it last took a byte

    bool reading = false;
    std::array<std::uint8_t, 4096> piece{};
    RequestReader reader{};
    std::size_t discarded_bytes = 0;

    // The request that is seen to.
    RawRequest raw{};
    Target target{};
    bool let_in = false, head_only = false, keep_alive = false;

    // Its answer.
    std::string head{};
    Feed::Part body{};
    bool writing = false;
    std::size_t taken_bytes = 0;

    // What follows bit by bit.
    std::unique_ptr<FeedClient> feed{};
    bool chunked = false, feed_ended = false;
    std::vector<std::string> chunk_heads{};
    std::vector<Feed::Part> parts{};
    std::string said{};                                                  ///< a WebSocket's first message so far
    std::function<void(const std::shared_ptr<Visitor>&)> after_proof{};  ///< goes on where it may
};

using VisitorPointer = std::shared_ptr<Visitor>;

}  // namespace framewire::net::http
