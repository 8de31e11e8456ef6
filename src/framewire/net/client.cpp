#include "framewire/net/client.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/retry_pauses.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/net/tcp.hpp"
#include "framewire/net/tls.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/websocket.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

using std::chrono::milliseconds;

}  // namespace

// Everything a client owns. Reading is synchronous: each operation runs the dialer's loop until it ends or its deadline
// passes.
struct Client::State {
    State(std::unique_ptr<Dialer> dialer_, StreamAddress address_, const ClientOptions& options_)
        : dialer(std::move(dialer_)), address(std::move(address_)), options(options_) {
        try {
            connect();
        } catch (const Lost& lost) {
            fail(ErrorCode::no_input, "cannot open {}: {}", to_string(address), lost.why);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::source_lost) throw;
            fail(ErrorCode::no_input, "cannot open {}: {}", to_string(address), error.what());
        }
    }

    // Connects and reads up to the end of the server's hello. Throws Lost if another attempt may succeed, and
    // Error{source_lost} if the server is incompatible or refuses the token.
    void connect() {
        connection.reset();
        const auto deadline = dialer->now() + options.connect_deadline;
        connection = dialer->dial(deadline);
        // After a reconnection the hello names the block versions the client holds, so the server sends only what is
        // missing.
        write(viewer_hello({address.stream, options.token, receiver ? receiver->block_versions() : BlockVersions{}}),
              deadline);
        outbox = {};
        control_requests->restart();

        payload.resize(preamble_bytes + header_bytes);
        read(payload, deadline, milliseconds(0));
        const ByteSpan front(payload);
        read_server_preamble(front.first(preamble_bytes));
        const auto header = read_header(front.subspan(preamble_bytes), 0);
        payload.resize(header.length_bytes);
        read(payload, deadline, milliseconds(0));
        bytes += static_cast<std::int64_t>(preamble_bytes + header_bytes + payload.size());
        if (header.type == MessageType::error) {
            const auto error = read_error(payload);
            if (error.reason == Refusal::not_allowed) fail(ErrorCode::source_lost, "the server says: {}", error.text);
            // The other reasons are temporary, such as too many viewers or a stream that does not exist yet.
            throw Lost{"the server says: " + error.text};
        }
        if (header.type != MessageType::hello)
            fail(ErrorCode::source_lost, "the server's first message is not a hello");
        accept(read_server_hello(payload));
    }

    // Writes the hello before the deadline.
    void write(const Bytes& message, Clock::time_point deadline) {
        Outcome outcome;
        const ByteSpan piece(message);
        connection->write({&piece, 1}, {}, outcome.handler());
        await(outcome, deadline, "timed out while sending the hello");
    }

    // Fills `into` before the deadline. If `silence` is not zero, the deadline moves: it is `silence` after the latest
    // bytes.
    void read(std::span<std::uint8_t> into, Clock::time_point deadline, milliseconds silence) {
        while (!into.empty()) {
            Outcome outcome;
            connection->read_some(into, outcome.handler());
            await(outcome, deadline, "timed out waiting for the server");
            if (outcome.bytes == 0) throw Lost{"the server closed the connection"};
            into = into.subspan(outcome.bytes);
            if (silence.count() > 0) deadline = dialer->now() + silence;
        }
    }

    // Waits until the operation ends. At the deadline it closes the connection, which ends the operation.
    void await(const Outcome& outcome, Clock::time_point deadline, const char* when_late) {
        if (!dialer->wait(outcome.done, deadline)) {
            connection->close();
            throw Lost{dialer->stopped() ? "stopped" : when_late};
        }
        if (outcome.error) throw Lost{outcome.error.message()};
    }

    // Takes over the stream of a new connection. The receiver keeps its picture if the size is the same.
    void accept(const ServerHello& hello) {
        const auto& offered = hello.info;
        const bool again = receiver.has_value() && offered.shape == info.shape;
        if (receiver && !again && !options.follows_size)
            fail(ErrorCode::source_lost, "the frame format changed from {} to {}", to_string(info.shape),
                 to_string(offered.shape));
        if (again) {
            receiver->restart(hello);
        } else {
            if (std::int64_t{offered.shape.width} * offered.shape.height > options.max_pixels)
                fail(ErrorCode::source_lost, "its frames are {}, which exceeds the limit of {} pixels",
                     to_string(offered.shape), options.max_pixels);
            receiver.emplace(hello);
        }
        info = offered;
        controls = hello.controls;
    }

    // Sends pending messages, reads one message and applies it.
    Receiver::Outcome take_message() {
        outbox.send(*connection, receiver->state().version, controls ? control_requests.get() : nullptr, dialer->now());
        std::array<std::uint8_t, header_bytes> front;
        read(front, dialer->now() + options.silence_deadline, options.silence_deadline);
        const auto begin = dialer->now();
        const auto header = read_header(front, receiver->max_packed_bytes());
        payload.resize(header.length_bytes);
        read(payload, dialer->now() + options.silence_deadline, options.silence_deadline);
        bytes += static_cast<std::int64_t>(header_bytes + payload.size());
        const auto now = dialer->now();
        if (header.type == MessageType::clock) {
            clock.compare(read_clocks(payload), now);
            return Receiver::Outcome::nothing;
        }
        if (header.type == MessageType::answer) {
            control_requests->take(read_answer(payload));
            return Receiver::Outcome::nothing;
        }
        const auto outcome = receiver->take(header.type, payload);
        if (header.type == MessageType::picture || header.type == MessageType::changes)
            take_state(header.type, now - begin, now);
        return outcome;
    }

    // Notes that a keyframe or delta frame of the picture has been received.
    void take_state(MessageType type, Clock::duration coming, Clock::time_point now) {
        outbox.take(coming, now);
        ++messages;
        last = type;
    }

    // Reconnects with growing pauses. Returns false if it was stopped. Throws Error{source_lost} if the time limit has
    // passed.
    bool connect_again(std::string why) {
        if (!loss)
            loss = {
                options.reconnect == milliseconds::max() ? Clock::time_point::max() : dialer->now() + options.reconnect,
                RetryPauses(options.first_pause, options.longest_pause)};
        if (options.reconnect.count() > 0) losses.line("{} was lost: {}; reconnecting", to_string(address), why);
        while (dialer->now() < loss->give_up) {
            if (options.on_loss) options.on_loss(why);
            // Nothing sets this flag, so wait() returns only when the pause ends or the dialer is stopped.
            const bool nothing = false;
            dialer->wait(nothing, std::min(dialer->now() + loss->pauses.take(), loss->give_up));
            if (dialer->stopped()) return false;
            try {
                connect();
                ++reconnections;
                return true;
            } catch (const Lost& lost) {
                if (dialer->stopped()) return false;
                why = lost.why;
            }
        }
        fail(ErrorCode::source_lost, "{} was lost: {}", to_string(address), why);
    }

    std::optional<std::chrono::microseconds> age() const {
        return clock.age(receiver->state().captured_us, dialer->now());
    }

    std::unique_ptr<Dialer> dialer;
    StreamAddress address;
    ClientOptions options;
    StreamInfo info;
    std::optional<Receiver> receiver;
    ViewerOutbox outbox;  // outbox of the current connection
    int messages = 0;     // keyframes and delta frames received since next() was called
    MessageType last{};   // type of the latest one
    bool controls = false;
    std::shared_ptr<ControlRequests> control_requests = std::make_shared<ControlRequests>();
    ServerClock clock;
    ConnectionPointer connection;  // declared after the members that its handlers use
    Bytes payload;
    std::int64_t bytes = 0;
    int reconnections = 0;
    // Lasts from a loss to the next complete state: a server that sends only hellos does not reset the pauses.
    struct Loss {
        Clock::time_point give_up;
        RetryPauses pauses;
    };
    std::optional<Loss> loss;
    LimitedLog losses{LogLevel::warning, "stream losses"};
    bool ended = false;
};

namespace {

const ClientOptions& checked(const ClientOptions& options) {
    if (!options.token.empty()) validate_token(options.token, "the viewer's options");
    for (const auto deadline :
         {options.connect_deadline, options.silence_deadline, options.first_pause, options.longest_pause})
        if (deadline <= milliseconds(0) || deadline > std::chrono::hours(1))
            fail(ErrorCode::usage, "invalid viewer deadline of {} ms; allowed: 1 ms to 1 h", deadline.count());
    const bool for_ever = options.reconnect == milliseconds::max();
    if (!for_ever && (options.reconnect < milliseconds(0) || options.reconnect > std::chrono::hours(24)))
        fail(ErrorCode::usage, "the reconnect time is {} ms; allowed: 0 to 24 h", options.reconnect.count());
    return options;
}

// Stacks the dialers: TCP, then TLS if the scheme uses it, then WebSocket.
std::unique_ptr<Dialer> dialer_to(const StreamAddress& address, const ClientOptions& options, std::stop_token stop) {
    auto dialer = tcp_dialer(address.server, options.lookup, std::move(stop));
    if (encrypted(address.scheme))
        dialer = tls_dialer(std::move(dialer), address.server, options.fingerprint);
    else if (!options.fingerprint.empty())
        fail(ErrorCode::usage, "a fingerprint requires tls:// or wss://, not {}", to_string(address));
    if (address.scheme == Scheme::websocket || address.scheme == Scheme::websocket_tls)
        return websocket_dialer(std::move(dialer), address);
    return dialer;
}

}  // namespace

Client::Client(const StreamAddress& address, const ClientOptions& options, std::stop_token stop)
    : Client(dialer_to(address, options, std::move(stop)), address, options) {}
Client::Client(std::unique_ptr<Dialer> dialer, const StreamAddress& address, const ClientOptions& options)
    : state_((validate_stream_name(address.stream),
              std::make_unique<State>(std::move(dialer), address, checked(options)))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

const StreamInfo& Client::info() const { return state_->info; }

// Reads messages, and reconnects after losses, until a state is complete.
bool Client::next() {
    auto& state = *state_;
    state.messages = 0;
    while (!state.ended && !state.dialer->stopped()) {
        try {
            const auto outcome = state.take_message();
            if (outcome == Receiver::Outcome::picture) {
                state.loss.reset();
                return true;
            }
            if (outcome == Receiver::Outcome::ended) {
                state.ended = true;
                state.connection.reset();  // the server waits until the viewer closes
            }
        } catch (const Lost& lost) {
            if (state.dialer->stopped() || !state.connect_again(lost.why)) return false;
        }
    }
    return false;
}

HostView<const std::uint8_t> Client::picture() const { return state_->receiver->picture(); }
const StateHeader& Client::state() const { return state_->receiver->state(); }
int Client::threshold() const { return state_->receiver->threshold(); }
std::shared_ptr<RemoteControl> Client::remote_control() const {
    return state_->controls ? state_->control_requests : nullptr;
}
// The payload of the last message still holds the state header and the objects before the packed bytes.
ByteSpan Client::packed() const {
    const auto& state = *state_;
    return ByteSpan(state.payload).subspan(state_header_bytes + state.receiver->objects().size() * object_bytes);
}
bool Client::follows() const { return state_->messages == 1 && state_->last == MessageType::changes; }
std::optional<Clock::time_point> Client::captured() const {
    const auto here_us = state_->clock.here_us(state_->receiver->state().captured_us);
    if (!here_us) return std::nullopt;
    return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::microseconds(*here_us)));
}
const codec::BlockSet& Client::came() const { return state_->receiver->came(); }
std::optional<std::chrono::microseconds> Client::age() const { return state_->age(); }
std::span<const Component> Client::objects() const { return state_->receiver->objects(); }
ClientCounts Client::counts() const { return {state_->receiver->counts(), state_->bytes, state_->reconnections}; }
void Client::last_changes(const codec::ChangesView<MemorySpace::host>& changes) const {
    state_->receiver->last_changes(changes);
}

}  // namespace framewire::net
