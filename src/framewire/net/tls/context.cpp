#include "framewire/net/tls/context.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/tls/certificates.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <utility>

namespace framewire::net {

namespace {

// TLS 1.2 or later, without renegotiation, compression and session resumption.
ContextPointer context_for(const SSL_METHOD* method) {
    ERR_clear_error();
    ContextPointer context(SSL_CTX_new(method));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
        fail(ErrorCode::config, "TLS cannot be used: {}", openssl_problem());
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context.get(), 0);
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // releases 34 kB of buffers of an idle connection
    return context;
}

KeyPointer read_key(const TlsIdentity& identity) {
    const auto& pem = identity.key;
    const BioPointer text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    // Without this callback OpenSSL would ask for a password on the terminal.
    const auto no_password = [](char*, int, int, void*) { return 0; };
    KeyPointer key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
    if (!key)
        fail(ErrorCode::usage, "{}: there is no private key in it (PEM, without a password): {}", identity.key_from,
             openssl_problem());
    return key;
}

// Throws unless the certificate is valid now.
void check_time(const X509& certificate, const std::string& from) {
    if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0)
        fail(ErrorCode::usage, "{}: the certificate has expired", from);
    if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0)
        fail(ErrorCode::usage, "{}: the certificate is not valid yet", from);
}

bool is_numeric(const std::string& host) {
    in6_addr any{};
    return ::inet_pton(AF_INET, host.c_str(), &any) == 1 || ::inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

// Creates an engine between two memory BIOs, so all I/O is done by TlsConnection.
SslPointer connection_of(SSL_CTX& context) {
    ERR_clear_error();
    SslPointer ssl(SSL_new(&context));
    auto* from_peer = ssl ? BIO_new(BIO_s_mem()) : nullptr;
    auto* to_peer = ssl ? BIO_new(BIO_s_mem()) : nullptr;
    if (!from_peer || !to_peer) {
        BIO_free(from_peer);
        BIO_free(to_peer);
        fail(ErrorCode::config, "there is no memory for a TLS connection");
    }
    SSL_set_bio(ssl.get(), from_peer, to_peer);
    return ssl;
}

}  // namespace

ContextPointer server_context(const TlsIdentity& identity) {
    auto context = context_for(TLS_server_method());
    const auto certificates = read_certificates(identity);
    const auto key = read_key(identity);
    check_time(*certificates.front(), identity.certificates_from);
    if (X509_check_private_key(certificates.front().get(), key.get()) != 1) {
        ERR_clear_error();
        fail(ErrorCode::usage, "{}: the key is not that of the certificate in {}", identity.key_from,
             identity.certificates_from);
    }
    bool used = SSL_CTX_use_certificate(context.get(), certificates.front().get()) == 1 &&
                SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1;
    // The first certificate is the server's own; the others form its chain.
    for (std::size_t i = 1; used && i < certificates.size(); ++i)
        used = SSL_CTX_add1_chain_cert(context.get(), certificates[i].get()) == 1;
    if (!used)
        fail(ErrorCode::usage, "{}: the certificate cannot be used: {}", identity.certificates_from, openssl_problem());
    return context;
}

void check_identity(const TlsIdentity& identity) { server_context(identity); }

ContextPointer client_context() {
    auto context = context_for(TLS_client_method());
    if (SSL_CTX_set_default_verify_paths(context.get()) != 1)
        fail(ErrorCode::config, "the system's certificates cannot be read: {}", openssl_problem());
    // The handshake always completes; problem_with_peer() then checks the certificate and can report its fingerprint.
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
    return context;
}

SslPointer accepting(SSL_CTX& context) {
    auto ssl = connection_of(context);
    SSL_set_accept_state(ssl.get());
    return ssl;
}

SslPointer connecting(SSL_CTX& context, const Address& server) {
    auto ssl = connection_of(context);
    SSL_set_connect_state(ssl.get());
    const auto* host = server.host.c_str();
    // IP addresses have no server name indication (RFC 6066, 3).
    const bool set = is_numeric(server.host)
                         ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host) == 1
                         : SSL_set1_host(ssl.get(), host) == 1 && SSL_set_tlsext_host_name(ssl.get(), host) == 1;
    if (!set) fail(ErrorCode::usage, "no certificate can be for '{}': {}", server.host, openssl_problem());
    return ssl;
}

std::string problem_with_peer(const SSL& ssl, const std::string& fingerprint) {
    const CertificatePointer certificate(SSL_get1_peer_certificate(&ssl));
    if (!certificate) return "it shows no certificate";
    const auto seen = fingerprint_of(certificate.get());
    // A pinned certificate needs no chain, no name and no validity.
    if (!fingerprint.empty())
        return seen == fingerprint ? std::string()
                                   : fmt::format("its certificate is another than the one asked for; it has {}", seen);
    const auto verified = SSL_get_verify_result(&ssl);
    if (verified == X509_V_OK) return {};
    return fmt::format(
        "its certificate is not to be trusted ({}); if it is the one that the server names at its start, "
        "add --fingerprint {}",
        X509_verify_cert_error_string(verified), seen);
}

}  // namespace framewire::net
