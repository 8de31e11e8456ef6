#pragma once

#include "framewire/net/tls/openssl.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/wire/wire.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

namespace framewire::net {

/// Failures of a TLS connection that are neither network nor OpenSSL errors: the peer does not speak TLS, is not
/// trusted, closed without close_notify, or sent too much without application data.
enum class TlsProblem { no_tls = 1, not_trusted, cut_off, flood };
/// Allows comparison with std::error_code.
std::error_code make_error_code(TlsProblem problem);

/// TLS over another connection, for the server's or the client's end (RFC 8446, RFC 5246). The handshake runs
/// asynchronously and starts with the first read, write or shake_hands(). A peer that is silent or slow costs only
/// memory, and the deadline of the pending operation applies to it. Memory per peer is bounded: unfinished handshakes
/// and bytes without application data are limited. Use it on the carrier's thread.
class TlsConnection final : public Connection {
public:
    /// Runs a task later on the connection's thread.
    using Post = std::function<void(std::function<void()> task)>;
    /// Returns why the peer must not be trusted after the handshake, or an empty string if it is trusted.
    using Distrust = std::function<std::string(const SSL& ssl)>;

    /// Settings of a connection.
    struct Options {
        /// Required.
        Post post;
        /// Null: every peer is trusted.
        Distrust distrust{};
        /// Response, without TLS, to a peer that does not start with TLS. Empty: none.
        Bytes plain_answer{};
    };
    /// Takes over `carrier` and `ssl`, which must use memory BIOs (accepting(), connecting()).
    TlsConnection(ConnectionPointer carrier, SslPointer ssl, Options options);
    ~TlsConnection() override;

    /// Calls `done` when the handshake has succeeded or failed. Call it at most once; it is optional before reading and
    /// writing.
    void shake_hands(Done done);
    /// After a failed operation, the reason as text.
    std::string problem() const;

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
