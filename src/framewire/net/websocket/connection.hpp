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

/// A WebSocket (RFC 6455) over another connection, for the server's or the client's end. Each piece that is written
/// becomes one message, which a server sends without copying it. Reading returns the contents of messages one after the
/// other. Pings are answered while a read is pending. Use it on the carrier's thread.
class WebSocketConnection final : public Connection {
public:
    /// The subprotocol of streams, named by both ends in the handshake (RFC 6455, 1.9).
    static constexpr std::string_view stream_protocol = "framewire";
    /// Longest message that a server accepts in bytes. Viewers send only short messages.
    static constexpr std::size_t viewer_message_limit_bytes = 64 * 1024;

    /// Settings of a connection.
    struct Options {
        /// Runs a task later on the connection's thread. Required.
        std::function<void(std::function<void()> task)> post;
        /// Messages are text, not binary. A message of the other kind is an error.
        bool text = false;
        /// Subprotocol for the handshake. Empty: none.
        std::string protocol{};
        /// Longest message that is accepted, in bytes.
        std::size_t message_limit_bytes = viewer_message_limit_bytes;
        /// Replace name() and peer() if a reverse proxy is at the carrier's other end. Empty: the carrier's.
        std::string name{}, peer{};
    };
    /// Takes over `carrier`. Start with accept() or ask().
    WebSocketConnection(ConnectionPointer carrier, Options options);
    ~WebSocketConnection() override;

    /// Names and values of header fields.
    using Fields = std::vector<std::pair<std::string, std::string>>;
    /// Server: answers a handshake request that has been read already, and calls `done` with the result. Call it once
    /// and first.
    void accept(const Fields& request, Done done);
    /// Client: requests the WebSocket at `path` from `host` ("name:port"), and calls `done` with the result. Call it
    /// once and first.
    void ask(const std::string& host, const std::string& path, Done done);
    /// After a failed ask(), the server's HTTP response as text, or nullopt if there was none.
    std::optional<std::string> declined() const;

    /// Returns true if the bytes read last end a message.
    bool message_ended() const;
    /// Sends a ping, which the peer answers automatically. Does nothing while a ping is being sent. Must not be called
    /// during a write.
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
