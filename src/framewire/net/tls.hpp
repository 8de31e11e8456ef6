#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace framewire::net {

/// A server's certificate and key as PEM texts.
struct TlsIdentity {
    /// The server's certificate, then the chain towards a root.
    std::string certificates;
    /// Private key of the first certificate, without a password.
    std::string key;
    /// Names of the sources of the certificates and the key, for messages.
    std::string certificates_from = "the certificate", key_from = "the key";
};

/// Generates a key (ECDSA P-256) and a self-signed certificate without an end date. Viewers identify it by its
/// fingerprint. Throws Error{config} if OpenSSL fails.
TlsIdentity make_identity();

/// Throws Error{usage} if the certificate or the key is unreadable, they do not match, or the certificate is not valid
/// now.
void check_identity(const TlsIdentity& identity);

/// Returns the fingerprint of the first certificate, which viewers pin: "SHA256:" and 64 hexadecimal digits. Throws
/// Error{usage} if there is none.
std::string fingerprint_of(const TlsIdentity& identity);

/// Returns a fingerprint in its canonical form. Accepts colons and upper-case digits, which other tools print. Throws
/// Error{usage} if the text is not a fingerprint.
std::string parse_fingerprint(std::string_view text);

/// Deleter that calls an OpenSSL function.
template <auto free>
struct FreedBy {
    /// Frees `object`.
    template <class T>
    void operator()(T* object) const {
        free(object);
    }
};
/// Owners of OpenSSL objects.
using BioPointer = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, FreedBy<X509_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, FreedBy<SSL_free>>;

/// Returns the latest OpenSSL error of this thread as text, and clears the error queue.
std::string openssl_problem();

/// Returns the certificates of an identity in order, at least one. Throws Error{usage} if there is none.
std::vector<CertificatePointer> read_certificates(const TlsIdentity& identity);

/// Returns the SHA-256 fingerprint of a certificate as "SHA256:" and 64 lower-case hexadecimal digits.
std::string fingerprint_of(X509* certificate);

/// Failures of a TLS connection that are neither network nor OpenSSL errors: the peer does not speak TLS, is not
/// trusted, closed without close_notify, or sent too much without application data.
enum class TlsProblem { no_tls = 1, not_trusted, cut_off, flood };
/// Allows comparison with std::error_code.
std::error_code make_error_code(TlsProblem problem);

/// TLS over another connection, for the server or the client (RFC 8446, RFC 5246). The handshake runs asynchronously
/// and starts with the first read, write or shake_hands(). A peer that is silent or slow costs only memory, and the
/// deadline of the pending operation applies to it. Memory per peer is bounded: unfinished handshakes and bytes without
/// application data are limited. Use it on the carrier's thread.
class TlsConnection final : public Connection {
public:
    /// Runs a task later on the connection's thread.
    using Post = std::function<void(std::function<void()> task)>;
    /// Returns why the peer must not be trusted after the handshake, or an empty string if it is trusted.
    using Distrust = std::function<std::string(const SSL& ssl)>;

    /// Settings of a connection.
    struct Options {
        /// Runs tasks on the connection's thread. Required.
        Post post;
        /// Null: every peer is trusted.
        Distrust distrust{};
        /// Response in plain text to a peer that does not speak TLS. Empty: no response.
        Bytes plain_answer{};
    };
    /// Takes over `carrier` and `ssl`, which must use memory BIOs (accepting(), connecting()).
    TlsConnection(ConnectionPointer carrier, SslPointer ssl, Options options);
    ~TlsConnection() override;

    /// Calls `done` when the handshake has succeeded or failed. Call it at most once; it is optional before reading and
    /// writing.
    void shake_hands(Done done);
    /// Returns why an operation failed. Call it only after a failure.
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

/// Creates the settings of a server's TLS connections: TLS 1.2 and 1.3, without session resumption and renegotiation.
/// Throws like check_identity().
ContextPointer server_context(const TlsIdentity& identity);

/// Creates the settings of a viewer's TLS connections, with the system's trusted roots. The environment variables
/// SSL_CERT_FILE and SSL_CERT_DIR override them. Throws Error{config} if they cannot be loaded.
ContextPointer client_context();

/// Creates the server's end of a connection, which waits for the client's first bytes. Throws Error{config} if memory
/// runs out.
SslPointer accepting(SSL_CTX& context);
/// Creates the client's end of a connection to `server`, whose certificate must be valid for that host. Throws
/// Error{usage} if the host cannot be in a certificate, and Error{config} if memory runs out.
SslPointer connecting(SSL_CTX& context, const Address& server);

/// Returns why the peer must not be trusted after the handshake, or an empty string. If `fingerprint` is not empty,
/// only the fingerprint of the peer's certificate is checked. Otherwise the certificate must chain to a trusted root,
/// be valid now and be issued for the requested host.
std::string problem_with_peer(const SSL& ssl, const std::string& fingerprint);

/// Returns a dialer for TLS over the connections of `carrier`. The certificate of `server` must have this fingerprint;
/// if it is empty, the certificate is verified. dial() throws Error{source_lost} if the peer does not speak TLS or is
/// not trusted, because another attempt would give the same result. Throws like client_context().
std::unique_ptr<Dialer> tls_dialer(std::unique_ptr<Dialer> carrier, const Address& server,
                                   const std::string& fingerprint);

/// Adds TLS to the connections that a server accepts, and limits handshakes. Use it from one thread.
class TlsListener {
public:
    /// Maximum number of connections per peer, and of all peers together, in `handshakes_window`. Handshakes are
    /// expensive, and existing viewers have priority.
    static constexpr int handshakes_allowed = 256,  ///< per peer
        all_handshakes_allowed = 4096;              ///< all peers together
    /// The window starts with a peer's first connection.
    static constexpr std::chrono::seconds handshakes_window{10};

    /// `post` runs a task later on the connections' thread. Throws like server_context().
    TlsListener(const TlsIdentity& identity, TlsConnection::Post post);

    /// Returns a TLS connection over `carrier`. Returns null and closes `carrier` if its peer, or all peers together,
    /// connect too often. Connections from a trusted proxy belong to many clients and count only in total.
    ConnectionPointer over(ConnectionPointer carrier, Clock::time_point now, bool is_proxy = false);
    /// Logs how many refusals were suppressed. Call it periodically.
    void tell_left_out(Clock::time_point now) { refusals_.tell_left_out(now); }

private:
    static constexpr std::size_t peers_known = 4096;

    ContextPointer context_;
    TlsConnection::Options options_;
    PeerAttempts handshakes_{handshakes_allowed, handshakes_window, peers_known};
    PeerAttempts all_handshakes_{all_handshakes_allowed, handshakes_window, 1};
    LimitedLog refusals_{LogLevel::info, "refused TLS connections"};
};

}  // namespace framewire::net
