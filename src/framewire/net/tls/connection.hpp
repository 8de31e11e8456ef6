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

/// What breaks a TLS connection beside its network, where OpenSSL has no code for it.
enum class TlsProblem { no_tls = 1, not_trusted, cut_off, flood };
std::error_code make_error_code(TlsProblem problem);

/// TLS over another connection, either end. The handshake begins with the first call for bytes and takes no thread's
/// time that it does not need: who is silent or slow in it costs memory only, and is subject to whoever waits for those
/// bytes. What it keeps of a peer is bounded: the bytes of a handshake, the bytes that are no stream's.
class TlsConnection final : public Connection {
public:
    /// Runs a task later in the thread of the connection.
    using Post = std::function<void(std::function<void()> task)>;
    /// Why the other end, whose handshake is done, is not to be trusted; empty when it is.
    using Distrust = std::function<std::string(const SSL& ssl)>;

    struct Options {
        Post post;
        Distrust distrust{};  ///< none: whoever it is
        /// Said without TLS to an end that does not begin TLS.
        Bytes plain_answer{};
    };
    TlsConnection(ConnectionPointer carrier, SslPointer ssl, Options options);
    ~TlsConnection() override;

    /// Calls when the handshake is done or has failed. Once, and not needed before reading and writing.
    void shake_hands(Done done);
    /// What went wrong, for people to read, after an operation failed.
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
