#include "framewire/net/tls.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

// Bytes encrypted per write to the carrier: enough for whole records, and little enough to keep a slow viewer's backlog
// small.
constexpr std::size_t sealed_at_once_bytes = 32 * 1024;
// Maximum number of bytes received in a row without application data. A handshake with a long certificate chain needs
// less.
constexpr std::size_t idle_limit_bytes = 128 * 1024;
// Maximum number of bytes of unsent protocol responses. While the peer does not accept them, nothing more is read from
// it.
constexpr std::size_t unsent_answers_limit_bytes = 64 * 1024;

// Record types that a TLS connection can start with (RFC 8446, 5.1).
constexpr std::uint8_t alert_record = 0x15, handshake_record = 0x16;

// Texts of TlsProblem and of OpenSSL's own codes.
class TlsCategory final : public std::error_category {
public:
    const char* name() const noexcept override { return "tls"; }
    std::string message(int code) const override {
        switch (static_cast<TlsProblem>(code)) {
            case TlsProblem::no_tls: return "the peer does not use TLS";
            case TlsProblem::not_trusted: return "the peer's certificate is not trusted";
            case TlsProblem::cut_off: return "the connection was interrupted";
            case TlsProblem::flood: return "too many TLS records without data";
        }
        const char* reason = ERR_reason_error_string(static_cast<unsigned long>(code));
        return fmt::format("TLS failed: {}", reason ? reason : "unknown error");
    }
};

const std::error_category& tls_category() {
    static const TlsCategory category;
    return category;
}

// Returns OpenSSL's latest error as an error code. The error queue of a thread is cleared before each call, so the
// error belongs to that call.
std::error_code last_error() {
    const auto error = ERR_peek_last_error();
    ERR_clear_error();
    if (error == 0 || error > INT_MAX) return make_error_code(TlsProblem::cut_off);
    return {static_cast<int>(error), tls_category()};
}

}  // namespace

std::error_code make_error_code(TlsProblem problem) { return {static_cast<int>(problem), tls_category()}; }

// The TLS engine between two memory BIOs:
//
//   carrier -> take() -> from_peer -> SSL -> unseal() -> reader
//   writer  -> seal() -> SSL -> to_peer -> send() -> carrier
//
// move_on() runs every stage that can make progress. If a callback destroys the connection, the core lives until that
// callback has returned.
struct TlsConnection::Core : AskedOfConnection, std::enable_shared_from_this<Core> {
    // Phase of the connection: handshake, open, failed, closed by its owner.
    enum class Phase { shaking, open, broken, closed };

    Core(ConnectionPointer carrier_, SslPointer ssl_, Options options_)
        : carrier(std::move(carrier_)), ssl(std::move(ssl_)), options(std::move(options_)) {}

    // from_peer() returns the BIO to which received bytes are written, to_peer() the one with the bytes to send.
    BIO* from_peer() const { return SSL_get_rbio(ssl.get()); }
    BIO* to_peer() const { return SSL_get_wbio(ssl.get()); }
    bool closed() const { return phase == Phase::closed; }

    // Continues in a posted task, because callbacks must not run inside the call that set them.
    void move_on_later() {
        if (std::exchange(moves_later, true)) return;
        options.post([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->moves_later = false;
            self->move_on();
        });
    }

    // Makes all progress that is possible now. Callbacks may close the connection or start further operations.
    void move_on() {
        const auto held = shared_from_this();
        if (phase == Phase::shaking) shake();
        if (phase == Phase::open) seal();
        if (!closed()) send();
        if (phase == Phase::open) unseal();
        if (phase == Phase::broken && !sends) tell_failure();  // after the alert has been sent to the peer
        if (phase == Phase::shaking || phase == Phase::open) hear();
    }

    // Continues the handshake. After it, the owner may still reject the peer.
    void shake() {
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl.get());
        if (result != 1) {
            if (SSL_get_error(ssl.get(), result) != SSL_ERROR_WANT_READ) fail(last_error());
            return;
        }
        if (options.distrust) distrusted = options.distrust(*ssl);
        if (!distrusted.empty()) return fail(TlsProblem::not_trusted);
        phase = Phase::open;
        finish(shaken, {}, 0);
    }

    // Encrypts the next part of the write after the previous part has been sent.
    void seal() {
        if (sends || BIO_pending(to_peer()) > 0) return;
        while (write_done && sealed_bytes < sealed_at_once_bytes && piece < pieces.size()) {
            const auto rest = pieces[piece].subspan(piece_bytes);
            std::size_t bytes = 0;
            if (!rest.empty()) {
                ERR_clear_error();
                const auto wanted = std::min(rest.size(), sealed_at_once_bytes - sealed_bytes);
                if (SSL_write_ex(ssl.get(), rest.data(), wanted, &bytes) != 1) return fail(last_error());
            }
            sealed_bytes += bytes;
            piece_bytes += bytes;
            if (piece_bytes == pieces[piece].size()) ++piece, piece_bytes = 0;
        }
        if (write_done && sealed_bytes == 0) return finish_write({});  // the write was empty
        if (ends && !write_done && !std::exchange(end_sealed, true)) {
            ERR_clear_error();
            SSL_shutdown(ssl.get());  // sends close_notify only; a second call would wait for the peer's
        }
    }

    // Sends the encrypted bytes, one write at a time.
    void send() {
        if (sends) return;
        if (const auto bytes = BIO_pending(to_peer()); bytes > 0) {
            underway.resize(static_cast<std::size_t>(bytes));
            BIO_read(to_peer(), underway.data(), bytes);
        }
        if (underway.empty()) {
            if (end_sealed && !std::exchange(ended, true)) carrier->end_writing();
            return;
        }
        sends = true;
        const ByteSpan whole(underway);
        const auto weak = weak_from_this();
        carrier->write(
            {&whole, 1},
            [weak](std::size_t sent) {
                if (const auto self = weak.lock()) self->tell_progress(sent);
            },
            [weak](const std::error_code& error, std::size_t) {
                if (const auto self = weak.lock()) self->sent(error);
            });
    }

    // There are more encrypted than plain bytes, so the reported progress is capped at the plain bytes.
    void tell_progress(std::size_t sent) {
        if (progress) progress(written_bytes + std::min(sent, sealed_bytes));
    }

    // Continues after a write to the carrier. If that failed, tell_failure() reports the failure to the writer.
    void sent(const std::error_code& error) {
        sends = false;
        underway = Bytes();  // an idle connection keeps no buffer
        if (error) {
            fail(error);
        } else if (phase != Phase::broken) {
            written_bytes += std::exchange(sealed_bytes, 0);
            if (write_done && piece == pieces.size()) finish_write({});
        }
        if (!closed()) move_on();
    }

    // Decrypts bytes for the pending read.
    void unseal() {
        if (!read_done) return;
        ERR_clear_error();
        std::size_t bytes = 0;
        if (SSL_read_ex(ssl.get(), into.data(), into.size(), &bytes) == 1) {
            idle_bytes = 0;
            return finish(read_done, {}, bytes);
        }
        switch (SSL_get_error(ssl.get(), 0)) {
            case SSL_ERROR_WANT_READ: send(); break;  // sends the engine's own response
            case SSL_ERROR_ZERO_RETURN: finish(read_done, {}, 0); break;
            default: fail(last_error()); send();
        }
    }

    // Reads from the carrier if bytes are needed and the peer accepts what it is sent.
    void hear() {
        const bool wanted = phase == Phase::shaking || read_done;
        if (!wanted || hears || static_cast<std::size_t>(BIO_pending(to_peer())) > unsent_answers_limit_bytes) return;
        hears = true;
        carrier->read_some(heard, [weak = weak_from_this()](const std::error_code& error, std::size_t bytes) {
            if (const auto self = weak.lock()) self->take(error, bytes);
        });
    }

    // Takes bytes from the carrier. A peer that does not speak TLS gets a plain-text response.
    void take(const std::error_code& error, std::size_t bytes) {
        hears = false;
        if (error || bytes == 0) {
            fail(error ? error : make_error_code(TlsProblem::cut_off));
        } else if (!heard_any && heard[0] != handshake_record && heard[0] != alert_record) {
            fail(TlsProblem::no_tls);
            underway = options.plain_answer;
            end_sealed = true;
        } else if ((idle_bytes += bytes) > idle_limit_bytes) {
            fail(TlsProblem::flood);
        } else if (BIO_write(from_peer(), heard.data(), static_cast<int>(bytes)) != static_cast<int>(bytes)) {
            fail(std::make_error_code(std::errc::not_enough_memory));
        }
        heard_any = true;
        move_on();
    }

    // Records the first failure.
    void fail(std::error_code error) {
        if (phase == Phase::broken || phase == Phase::closed) return;
        phase = Phase::broken;
        failure = error;
    }
    void fail(TlsProblem problem) { fail(make_error_code(problem)); }

    // Reports the failure to all pending operations. The first callback may close the connection.
    void tell_failure() {
        progress = nullptr;
        for (auto* done : {&shaken, &write_done, &read_done})
            if (!closed()) finish(*done, failure, 0);
    }

    void close() {
        phase = Phase::closed;
        forget();
        carrier->close();
    }

    ConnectionPointer carrier;
    SslPointer ssl;
    Options options;
    Phase phase = Phase::shaking;
    std::error_code failure;
    std::string distrusted;
    bool moves_later = false;

    bool hears = false, heard_any = false;
    std::array<std::uint8_t, 16 * 1024> heard{};
    std::size_t idle_bytes = 0;

    bool sends = false;
    Bytes underway;                // encrypted bytes on their way to the peer
    std::size_t sealed_bytes = 0;  // plain bytes of the write that `underway` contains
    bool ends = false, end_sealed = false, ended = false;

    std::size_t piece_bytes = 0;  // plain bytes of the current piece that have been encrypted
};

TlsConnection::TlsConnection(ConnectionPointer carrier, SslPointer ssl, Options options)
    : core_(std::make_shared<Core>(std::move(carrier), std::move(ssl), std::move(options))) {}
TlsConnection::~TlsConnection() { close(); }

void TlsConnection::shake_hands(Done done) {
    core_->shaken = std::move(done);
    core_->move_on_later();
}

std::string TlsConnection::problem() const {
    return core_->distrusted.empty() ? core_->failure.message() : core_->distrusted;
}

const std::string& TlsConnection::name() const { return core_->carrier->name(); }
const std::string& TlsConnection::peer() const { return core_->carrier->peer(); }

void TlsConnection::read_some(std::span<std::uint8_t> into, Done done) {
    core_->ask_to_read(into, std::move(done));
    core_->move_on_later();
}

void TlsConnection::write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) {
    core_->ask_to_write(pieces, std::move(progress), std::move(done));
    core_->piece_bytes = 0;
    core_->move_on_later();
}

void TlsConnection::end_writing() {
    core_->ends = true;
    core_->move_on_later();
}

void TlsConnection::close() { core_->close(); }

namespace {

// Creates a context for TLS 1.2 or later, without renegotiation, compression and session resumption.
ContextPointer context_for(const SSL_METHOD* method) {
    ERR_clear_error();
    ContextPointer context(SSL_CTX_new(method));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
        fail(ErrorCode::config, "cannot set up TLS: {}", openssl_problem());
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context.get(), 0);
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // frees 34 kB of buffers while a connection is idle
    return context;
}

KeyPointer read_key(const TlsIdentity& identity) {
    const auto& pem = identity.key;
    const BioPointer text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    // Without this callback OpenSSL would ask for a password on the terminal.
    const auto no_password = [](char*, int, int, void*) { return 0; };
    KeyPointer key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
    if (!key)
        fail(ErrorCode::usage, "{} contains no private key (expected: PEM without a password): {}", identity.key_from,
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
        fail(ErrorCode::config, "not enough memory for a TLS connection");
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
        fail(ErrorCode::usage, "{}: the key does not match the certificate in {}", identity.key_from,
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
        fail(ErrorCode::config, "cannot load the system's certificates: {}", openssl_problem());
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
    if (!set) fail(ErrorCode::usage, "cannot verify certificates for '{}': {}", server.host, openssl_problem());
    return ssl;
}

std::string problem_with_peer(const SSL& ssl, const std::string& fingerprint) {
    const CertificatePointer certificate(SSL_get1_peer_certificate(&ssl));
    if (!certificate) return "it sent no certificate";
    const auto seen = fingerprint_of(certificate.get());
    // A pinned certificate is trusted whatever its chain, names and validity period.
    if (!fingerprint.empty())
        return seen == fingerprint ? std::string()
                                   : fmt::format("its certificate does not match the fingerprint; it has {}", seen);
    const auto verified = SSL_get_verify_result(&ssl);
    if (verified == X509_V_OK) return {};
    return fmt::format(
        "its certificate is not trusted ({}); if the server printed this fingerprint at startup, add --fingerprint {}",
        X509_verify_cert_error_string(verified), seen);
}

namespace {

// Adds the TLS handshake to the carrier's connections. Throws Error for failures that another attempt would not change,
// and Lost for others.
class TlsDialer final : public LayeredDialer {
public:
    TlsDialer(std::unique_ptr<Dialer> carrier, const Address& server, const std::string& fingerprint)
        : LayeredDialer(std::move(carrier)), server_(server), fingerprint_(fingerprint), context_(client_context()) {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        auto ssl = connecting(*context_, server_);
        auto connection = std::make_unique<TlsConnection>(
            carrier().dial(deadline), std::move(ssl),
            TlsConnection::Options{
                .post = [this](std::function<void()> task) { post(std::move(task)); },
                .distrust = [this](const SSL& done) { return problem_with_peer(done, fingerprint_); }});
        const auto error = shake_hands(*connection, deadline, "the TLS handshake failed",
                                       [&](Connection::Done done) { connection->shake_hands(std::move(done)); });
        if (error == make_error_code(TlsProblem::no_tls))
            fail(ErrorCode::source_lost, "the server does not use TLS; try tcp:// in its address");
        if (error == make_error_code(TlsProblem::not_trusted))
            fail(ErrorCode::source_lost, "{}", connection->problem());
        if (error) throw Lost{error.message()};
        return connection;
    }

private:
    const Address server_;
    const std::string fingerprint_;
    ContextPointer context_;
};

}  // namespace

std::unique_ptr<Dialer> tls_dialer(std::unique_ptr<Dialer> carrier, const Address& server,
                                   const std::string& fingerprint) {
    return std::make_unique<TlsDialer>(std::move(carrier), server, fingerprint);
}

namespace {

constexpr std::string_view fingerprint_scheme = "SHA256:";
constexpr std::size_t fingerprint_bytes = 32;

// Returns the content of a memory BIO.
std::string text_of(BIO* memory) {
    char* text = nullptr;
    const auto bytes = BIO_get_mem_data(memory, &text);
    return {text, static_cast<std::size_t>(bytes)};
}

// Sets the same subject and issuer, because the certificate is self-signed.
bool set_names(X509* certificate) {
    auto* name = X509_get_subject_name(certificate);
    const std::string_view common = "framewire";
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common.data()),
                                      static_cast<int>(common.size()), -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1;
}

// Sets a random serial number of 127 bits (RFC 5280, 4.1.2.2).
bool set_number(X509* certificate) {
    std::array<unsigned char, 16> random{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return false;
    random[0] &= 0x7f;  // positive
    BIGNUM* number = BN_bin2bn(random.data(), static_cast<int>(random.size()), nullptr);
    const bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return set;
}

// Makes the certificate valid from yesterday, for viewers whose clocks are slow, and without an end date (RFC 5280,
// 4.1.2.5).
bool set_times(X509* certificate) {
    constexpr long a_day_s = 24 * 60 * 60;
    return X509_gmtime_adj(X509_getm_notBefore(certificate), -a_day_s) &&
           ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1;
}

}  // namespace

std::string openssl_problem() {
    const auto error = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = error ? ERR_reason_error_string(error) : nullptr;
    return reason ? reason : "unknown error";
}

// The && chain stops at the first failure, whose reason OpenSSL stores.
TlsIdentity make_identity() {
    ERR_clear_error();
    const KeyPointer key(EVP_EC_gen("P-256"));
    const CertificatePointer certificate(X509_new());
    const BioPointer key_text(BIO_new(BIO_s_mem())), certificate_text(BIO_new(BIO_s_mem()));
    // The version field of X.509 v3 is 2.
    constexpr long version_3 = 2;
    const bool made =
        key && certificate && key_text && certificate_text && X509_set_version(certificate.get(), version_3) == 1 &&
        set_number(certificate.get()) && set_names(certificate.get()) && set_times(certificate.get()) &&
        X509_set_pubkey(certificate.get(), key.get()) == 1 &&
        X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0 &&
        PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1 &&
        PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    if (!made) fail(ErrorCode::config, "cannot create a certificate: {}", openssl_problem());
    return {.certificates = text_of(certificate_text.get()), .key = text_of(key_text.get())};
}

std::string fingerprint_of(X509* certificate) {
    std::array<std::uint8_t, fingerprint_bytes> digest{};
    unsigned bytes = 0;
    if (X509_digest(certificate, EVP_sha256(), digest.data(), &bytes) != 1)
        fail(ErrorCode::config, "cannot compute the fingerprint of a certificate: {}", openssl_problem());
    std::string text(fingerprint_scheme);
    for (const auto byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

std::string fingerprint_of(const TlsIdentity& identity) {
    return fingerprint_of(read_certificates(identity).front().get());
}

std::vector<CertificatePointer> read_certificates(const TlsIdentity& identity) {
    const auto& pem = identity.certificates;
    const BioPointer text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    std::vector<CertificatePointer> all;
    while (auto* certificate = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) all.emplace_back(certificate);
    ERR_clear_error();  // the end of the text counts as an error
    if (all.empty())
        fail(ErrorCode::usage, "{} contains no certificate (expected: PEM with BEGIN CERTIFICATE)",
             identity.certificates_from);
    return all;
}

// Accepts "SHA256:" in any case, and digits in any case with or without colons.
std::string parse_fingerprint(std::string_view text) {
    std::string digits;
    const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
    std::string_view rest = text;
    bool good = rest.size() > fingerprint_scheme.size();
    for (std::size_t i = 0; good && i < fingerprint_scheme.size(); ++i)
        good = lower(rest[i]) == lower(fingerprint_scheme[i]);
    if (good) rest.remove_prefix(fingerprint_scheme.size());
    for (const char c : rest) {
        if (c == ':') continue;
        good = good && std::isxdigit(static_cast<unsigned char>(c)) != 0;
        digits += lower(c);
    }
    if (!good || digits.size() != 2 * fingerprint_bytes)
        fail(ErrorCode::usage,
             "{} is not a fingerprint; expected 'SHA256:' and 64 hexadecimal digits, with or without colons",
             in_quotes(std::string(text)));
    return std::string(fingerprint_scheme) + digits;
}

TlsListener::TlsListener(const TlsIdentity& identity, TlsConnection::Post post)
    : context_(server_context(identity)),
      options_{.post = std::move(post),
               .plain_answer =
                   error_message(Refusal::bad_request, "this server requires TLS: use tls:// in its address", true)} {}

// Every connection counts, whether its handshake succeeds or not.
ConnectionPointer TlsListener::over(ConnectionPointer carrier, Clock::time_point now, bool is_proxy) {
    static const std::string everybody;
    const bool peer_exhausted = !is_proxy && handshakes_.exhausted(carrier->peer(), now);
    if (peer_exhausted || all_handshakes_.exhausted(everybody, now)) {
        refusals_.line_of(carrier->peer(), "{} disconnected: more than {} TLS connections{} within {} s",
                          carrier->name(), peer_exhausted ? handshakes_allowed : all_handshakes_allowed,
                          peer_exhausted ? " from its address" : "", handshakes_window.count());
        return nullptr;
    }
    if (!is_proxy) handshakes_.add(carrier->peer(), now);
    all_handshakes_.add(everybody, now);
    return std::make_unique<TlsConnection>(std::move(carrier), accepting(*context_), options_);
}

}  // namespace framewire::net
