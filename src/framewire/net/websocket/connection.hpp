#pragma once

#include "framewire/net/transport/connection.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net {

/// A WebSocket (RFC 6455) over another connection, either end, once its handshake is done. Each piece that is written
/// becomes one message, whose bytes are not copied at the server's end; what is read are the contents of messages, one
/// after the other. Pings are answered while something is read.
class WebSocketConnection final : public Connection {
public:
    /// What it is for, which both ends name in the handshake ("subprotocol").
    static constexpr std::string_view stream_protocol = "framewire";
    /// The longest message that a server takes: viewers have little to say.
    static constexpr std::size_t viewer_message_limit_bytes = 64 * 1024;

    struct Options {
        /// Runs a task later in the thread of the connection.
        std::function<void(std::function<void()> task)> post;
        bool text = false;       ///< messages are text, not bytes; what comes of the other kind breaks it
        std::string protocol{};  ///< named in the handshake; empty: none
        std::size_t message_limit_bytes = viewer_message_limit_bytes;
        /// As name() and peer(), if a reverse proxy is at the carrier's other end; empty: the carrier's.
        std::string name{}, peer{};
    };
    WebSocketConnection(ConnectionPointer carrier, Options options);
    ~WebSocketConnection() override;

    /// A request's fields.
    using Fields = std::vector<std::pair<std::string, std::string>>;
    /// Answers the request to become a WebSocket, which was read already; calls when that is done or has failed. First
    /// and once, as the next one.
    void accept(const Fields& request, Done done);
    /// Asks the server `host` ("name:port") for the WebSocket at `path`.
    void ask(const std::string& host, const std::string& path, Done done);
    /// What the server answered that was asked and did not agree, for people to read; none where it said nothing.
    std::optional<std::string> declined() const;

    /// Whether what was read last is the end of a message.
    bool message_ended() const;
    /// Asks the other end for a sign of life, which it gives by itself; nothing where that is on its way. Not while
    /// something is written.
    void ping();

    const std::string& name() const override;
    const std::string& peer() const override;
    void read_some(std::span<std::uint8_t> into, Done done) override;
    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override;
    void end_writing() override;
    void close() override;

private:
    struct Core;
    std::shared_ptr<Core> core_;
};

}  // namespace framewire::net
