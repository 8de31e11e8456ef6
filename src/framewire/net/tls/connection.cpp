#include "framewire/net/tls/connection.hpp"

#include "framewire/net/transport/asked_of_connection.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

// Bytes encrypted per write to the carrier: enough for whole records, and little enough to keep a slow viewer's backlog
// small.
constexpr std::size_t sealed_at_once_bytes = 32 * 1024;
// Most bytes received in a row without application data. A handshake with a long certificate chain needs less.
constexpr std::size_t idle_limit_bytes = 128 * 1024;
// Most bytes of unsent protocol responses. While the peer does not take them, nothing more is read from it.
constexpr std::size_t unsent_answers_limit_bytes = 64 * 1024;

// Record types that a TLS connection can start with (RFC 8446, 5.1).
constexpr std::uint8_t alert_record = 0x15, handshake_record = 0x16;

// Texts of TlsProblem and of OpenSSL's own codes.
class TlsCategory final : public std::error_category {
public:
    const char* name() const noexcept override { return "tls"; }
    std::string message(int code) const override {
        switch (static_cast<TlsProblem>(code)) {
            case TlsProblem::no_tls: return "the other end speaks no TLS";
            case TlsProblem::not_trusted: return "the other end is not to be trusted";
            case TlsProblem::cut_off: return "the connection was cut off";
            case TlsProblem::flood: return "too much TLS without a word in it";
        }
        const char* reason = ERR_reason_error_string(static_cast<unsigned long>(code));
        return fmt::format("TLS failed: {}", reason ? reason : "an unknown problem");
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
// move_on() runs every stage that can make progress. The core outlives its connection while a callback runs that
// destroys the connection.
struct TlsConnection::Core : AskedOfConnection, std::enable_shared_from_this<Core> {
    // Phase of the connection: handshake, open, failed, closed by its owner.
    enum class Phase { shaking, open, broken, closed };

    Core(ConnectionPointer carrier_, SslPointer ssl_, Options options_)
        : carrier(std::move(carrier_)), ssl(std::move(ssl_)), options(std::move(options_)) {}

    // The BIO that received bytes are written to, and the one with bytes for the peer.
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

    // Does everything that is possible now. Callbacks may close the connection or request more.
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

    // Encrypted bytes are more than the plain ones, so progress is capped at the latter.
    void tell_progress(std::size_t sent) {
        if (progress) progress(written_bytes + std::min(sent, sealed_bytes));
    }

    // Continues after a write. After a failure the writer learns of it through tell_failure() instead.
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

    // Reads from the carrier if bytes are needed and the peer takes what it is sent.
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

}  // namespace framewire::net
