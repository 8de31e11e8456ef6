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

/// State of one HTTP connection. Only the loop's thread uses it.
struct Visitor : std::enable_shared_from_this<Visitor> {
    /// Current activity of the connection. Visitors::enter() changes it.
    enum class Phase {
        waiting,    ///< waits for a request or reads one
        handled,    ///< a handler works on the request; nothing is read
        answering,  ///< a response is being written
        upgrading,  ///< the WebSocket handshake is in progress
        proving,    ///< a WebSocket whose first message must contain the token
        feeding,    ///< receives the parts of a feed
        leaving,    ///< the last response has been written; waits for the peer to close
        // The connection is closed.
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
    /// The other end is a trusted proxy.
    bool is_proxy = false;
    /// Name and peer of the connection, or of the client that a trusted proxy forwards for.
    std::string name, peer;
    /// The connection, if it is a WebSocket; otherwise null.
    WebSocketConnection* socket = nullptr;
    Phase phase = Phase::waiting;
    /// Start of the phase. While a request is read, the time of its first byte.
    Clock::time_point since;
    /// When the peer last took a byte.
    Clock::time_point progress;

    bool reading = false;
    std::array<std::uint8_t, 4096> piece{};
    RequestReader reader{};
    std::size_t discarded_bytes = 0;

    // The request being handled.
    RawRequest raw{};
    Target target{};
    bool let_in = false, head_only = false, keep_alive = false;

    // Its response.
    std::string head{};
    Feed::Part body{};
    bool writing = false;
    std::size_t taken_bytes = 0;

    // The feed that follows the response.
    std::unique_ptr<FeedClient> feed{};
    bool chunked = false, feed_ended = false;
    std::vector<std::string> chunk_heads{};
    std::vector<Feed::Part> parts{};
    std::string said{};  ///< first message of a WebSocket, as received so far
    std::function<void(const std::shared_ptr<Visitor>&)> after_proof{};  ///< continues after the token was accepted
};

using VisitorPointer = std::shared_ptr<Visitor>;

}  // namespace framewire::net::http
