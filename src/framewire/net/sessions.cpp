#include "framewire/net/sessions.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

// The handshake of the stream protocol: the first byte decides between HTTP and the stream protocol, then the preamble,
// the header and the hello are read one after the other. A refused connection stays until the peer closes it.

namespace framewire::net {

namespace {

// Maximum number of bytes that are read and discarded from a refused connection. Closing with unread bytes would reset
// the connection, and the peer could lose the reason.
constexpr std::size_t discarded_limit_bytes = 64 * 1024;

// Returns true if the byte starts an HTTP method. The stream protocol starts with a different letter.
bool begins_http(std::uint8_t first) {
    return std::string_view("CDGHOPT").find(static_cast<char>(first)) != std::string_view::npos;
}

// Returns a copy, because handling one connection may remove it and others.
template <class Pointer>
std::vector<Pointer> all_of(const std::map<std::uint64_t, Pointer>& pending_connections) {
    std::vector<Pointer> all;
    all.reserve(pending_connections.size());
    for (const auto& [number, pending] : pending_connections) all.push_back(pending);
    return all;
}

}  // namespace

// A pending connection: reading its hello, or refused and waiting for the peer to close.
struct PendingConnections::PendingConnection : std::enable_shared_from_this<PendingConnections::PendingConnection> {
    enum class Phase { greeting, refused, gone };

    PendingConnection(std::uint64_t number_, ConnectionPointer connection_, Clock::time_point now)
        : number(number_), connection(std::move(connection_)), since(now) {}

    std::uint64_t number;
    ConnectionPointer connection;
    std::string stream{};  // the stream that its hello must name; empty: any
    Phase phase = Phase::greeting;
    Clock::time_point since;  // start of the phase
    bool reading = false;
    Bytes hello = Bytes(preamble_bytes + header_bytes);  // the preamble and header, then the content
    std::size_t heard_bytes = 0;                         // bytes of `hello` read so far
    // True if the preamble and header have been read.
    bool front_heard = false;
    std::uint16_t version = 0;  // protocol version that the viewer offers
    Bytes words;                // the refusal being sent
    std::size_t discarded_bytes = 0;
};

PendingConnections::PendingConnections(const Limits& limits, std::string_view token, Loop& loop, Admit admit,
                                       Count count, HandOver hand_over)
    : limits_(limits),
      loop_(loop),
      admit_(std::move(admit)),
      count_(std::move(count)),
      hand_over_(std::move(hand_over)),
      pending_limiter_(limits.greeting, limits.greeting_per_peer),
      farewells_(limits.greeting, limits.greeting_per_peer),
      gate_(token) {}

void PendingConnections::come(ConnectionPointer connection, std::string stream) {
    const auto pending = std::make_shared<PendingConnection>(++come_so_far_, std::move(connection), loop_.now());
    pending->stream = std::move(stream);
    admit(pending);
    if (pending->phase == PendingConnection::Phase::greeting) read_on(*pending);
}

std::string PendingConnections::pending_name_of(const PendingConnection& pending) const {
    return pending_name(pending.number, pending.connection->peer(), limits_.proxies.trusts(*pending.connection));
}

// Adds the connection to the pending ones. If that exceeds a limit, an older one is refused.
void PendingConnections::admit(const PendingPointer& pending) {
    greeting_.emplace(pending->number, pending);
    const auto eviction = pending_limiter_.enter(pending->number, pending_name_of(*pending));
    if (!eviction) return;
    const auto loser = greeting_.find(eviction->connection);
    if (loser == greeting_.end()) return;
    const auto who = eviction->of_same_peer ? fmt::format("{} connections from its address", limits_.greeting_per_peer)
                                            : fmt::format("{} connections", limits_.greeting);
    refuse(PendingPointer(loser->second),
           {Refusal::too_many_viewers,
            who + " have not sent a hello yet, which is the limit; newer ones take precedence"});
}

// Reads the next bytes, into the hello or, after a refusal, into a buffer that nobody reads.
void PendingConnections::read_on(PendingConnection& pending) {
    if (pending.reading) return;
    pending.reading = true;
    const auto into = pending.phase == PendingConnection::Phase::greeting
                          ? std::span(pending.hello).subspan(pending.heard_bytes)
                          : std::span<std::uint8_t>(discarded_);
    pending.connection->read_some(into, [this, &pending](const std::error_code& error, std::size_t bytes) {
        const auto held = pending.shared_from_this();
        pending.reading = false;
        if (error || bytes == 0) {
            if (pending.phase == PendingConnection::Phase::greeting) {
                count_(1, 0);
                if (error)
                    refusals_.line_of(pending.connection->peer(), "{} refused: {}", pending.connection->name(),
                                      error.message());
            }
            close(held);
        } else if (pending.phase == PendingConnection::Phase::greeting) {
            take_piece(held, bytes);
        } else {
            discard_piece(held, bytes);
        }
    });
}

// Processes one piece of the hello. Any error refuses the connection.
void PendingConnections::take_piece(const PendingPointer& pending, std::size_t bytes) {
    const bool first = pending->heard_bytes == 0 && !pending->front_heard;
    pending->heard_bytes += bytes;
    try {
        if (first) {
            // The protocol has to be known first, because a refusal depends on it.
            if (hand_over_ && pending->stream.empty() && begins_http(pending->hello[0])) {
                forget(*pending);
                return hand_over_(std::move(pending->connection), ByteSpan(pending->hello).first(bytes));
            }
            if (const auto why = gate_.closed_to(pending->connection->peer(), loop_.now()))
                return refuse(pending, *why);
        }
        if (pending->heard_bytes == pending->hello.size()) {
            if (pending->front_heard) return take_hello(pending);
            take_header(pending);
        }
        read_on(*pending);
    } catch (const Error& problem) {
        refuse(pending, {Refusal::bad_request, problem.what()});
    } catch (...) {
        forget(*pending);  // out of memory: the connection is destroyed here, or it belongs to a viewer already
        throw;
    }
}

// The preamble and the header are complete: the length of the hello is known now.
void PendingConnections::take_header(const PendingPointer& pending) {
    const ByteSpan front(pending->hello);
    pending->version = read_viewer_preamble(front.first(preamble_bytes));
    const auto header = read_viewer_header(front.subspan(preamble_bytes));
    if (header.type != MessageType::hello) fail(ErrorCode::source_lost, "the viewer's first message is not a hello");
    pending->front_heard = true;
    pending->heard_bytes = 0;
    pending->hello.resize(header.length_bytes);
}

void PendingConnections::take_hello(const PendingPointer& pending) {
    const auto hello = read_viewer_hello(pending->hello, pending->version);
    // Checked before the stream is looked up: its name must not be disclosed without the token.
    if (const auto why = gate_.check(pending->connection->peer(), hello.token, loop_.now()))
        refuse(pending, *why);
    else if (!pending->stream.empty() && hello.stream != pending->stream)
        refuse(pending, {Refusal::bad_request, "its hello requests a different stream than its WebSocket"});
    else if (const auto why_not = admit_(hello, pending->connection))
        refuse(pending, *why_not);
    else
        forget(*pending);
}

// Removes the connection from all lists. Unless a running callback holds it, it is destroyed.
void PendingConnections::forget(PendingConnection& pending) {
    pending.phase = PendingConnection::Phase::gone;
    pending_limiter_.leave(pending.number);
    farewells_.leave(pending.number);
    greeting_.erase(pending.number);
    refused_.erase(pending.number);
}

// The peer closes after it has received the reason. If the server closed first, unread bytes could reset the connection
// and the reason would be lost.
void PendingConnections::refuse(const PendingPointer& pending, const ServerError& why) {
    refusals_.line_of(pending->connection->peer(), "{} refused: {}", pending->connection->name(), why.text);
    pending_limiter_.leave(pending->number);
    greeting_.erase(pending->number);
    // Refused connections are limited like pending ones, so the oldest may be closed.
    if (const auto eviction = farewells_.enter(pending->number, pending_name_of(*pending)))
        if (const auto loser = refused_.find(eviction->connection); loser != refused_.end())
            close(PendingPointer(loser->second));
    refused_.emplace(pending->number, pending);
    pending->phase = PendingConnection::Phase::refused;
    pending->since = loop_.now();
    pending->words = error_message(why.reason, why.text, true);
    count_(1, static_cast<std::int64_t>(pending->words.size()));
    read_on(*pending);
    const ByteSpan words(pending->words);
    pending->connection->write({&words, 1}, {},
                               [this, reported = pending.get()](const std::error_code& error, std::size_t) {
                                   if (error)
                                       close(reported->shared_from_this());
                                   else
                                       reported->connection->end_writing();
                               });
}

// Bytes after a refusal are ignored, up to a limit.
void PendingConnections::discard_piece(const PendingPointer& pending, std::size_t bytes) {
    pending->discarded_bytes += bytes;
    if (pending->discarded_bytes > discarded_limit_bytes)
        close(pending);
    else
        read_on(*pending);
}

void PendingConnections::close(const PendingPointer& pending) {
    forget(*pending);
    pending->connection->close();
}

void PendingConnections::turn_away(const ServerError& why) {
    for (const auto& pending : all_of(greeting_)) refuse(pending, why);
}

void PendingConnections::check_deadlines() {
    const auto now = loop_.now();
    for (const auto& pending : all_of(greeting_))
        if (now - pending->since >= limits_.hello_deadline)
            refuse(pending, {Refusal::bad_request,
                             fmt::format("no complete hello within {} ms", limits_.hello_deadline.count())});
    for (const auto& pending : all_of(refused_))
        if (now - pending->since >= limits_.farewell_deadline) close(pending);
    refusals_.tell_left_out(now);
}

namespace {

// Lower limit of the default memory for pending responses.
constexpr std::size_t least_pinned_limit_bytes = std::size_t{512} << 20;
// Stream names listed in a refusal: at most this many bytes, so that they fit into an error message.
constexpr std::size_t names_bytes_reported = 100;

}  // namespace

Sessions::Sessions(const Limits& limits, Loop& loop, std::string_view token, PendingConnections::HandOver hand_over)
    : limits_(limits),
      loop_(loop),
      viewers_(limits.viewer_deadlines, loop, streams_, tally_),
      pending_connections_(
          limits.pending_connections, token, loop,
          [this](const ViewerHello& hello, ConnectionPointer& connection) { return admit(hello, connection); },
          [this](std::int64_t refused, std::int64_t bytes) {
              tally_.count([&] {
                  tally_.total.refused += refused;
                  tally_.total.other_bytes += bytes;
              });
          },
          std::move(hand_over)) {
    set_pinned_limit();
}

void Sessions::come(ConnectionPointer connection, std::string stream) {
    pending_connections_.come(std::move(connection), std::move(stream));
}

// The token was checked before, so a refusal may list the streams.
std::optional<ServerError> Sessions::admit(const ViewerHello& hello, ConnectionPointer& connection) {
    const auto& name = hello.stream;
    const auto found = streams_.find(name);
    if (found == streams_.end())
        return ServerError{Refusal::no_such_stream, fmt::format("there is no stream '{}' here; {}", name, names())};
    auto& stream = *found->second;
    if (stream.ending) return ServerError{Refusal::no_such_stream, "the stream has ended"};
    if (viewers_.count() >= static_cast<std::size_t>(limits_.viewers) && !viewers_.make_room(connection->peer()))
        return ServerError{Refusal::too_many_viewers,
                           fmt::format("the limit of {} viewers has been reached", limits_.viewers)};
    viewers_.come(stream, std::move(connection), hello);
    return std::nullopt;
}

// Returns for example "available: 'yard'" or "available: 'garden', 'yard' and 3 more".
std::string Sessions::names() const {
    std::string reported;
    int count = 0, left_out = 0;
    for (const auto& [name, stream] : streams_) {
        if (stream->ending) continue;
        if (count > 0 && (left_out > 0 || reported.size() + name.size() > names_bytes_reported)) {
            ++left_out;
            continue;
        }
        reported += fmt::format("{}'{}'", count++ > 0 ? ", " : "", name);
    }
    if (count == 0) return "available: none";
    if (left_out > 0) reported += fmt::format(" and {} more", left_out);
    return "available: " + reported;
}

void Sessions::check_deadlines() {
    viewers_.check_deadlines();
    pending_connections_.check_deadlines();
}

Stream& Sessions::add(const std::string& name, StreamState& state, Control control) {
    validate_stream_name(name);
    if (streams_.contains(name)) fail(ErrorCode::usage, "a stream '{}' already exists", name);
    auto& stream = *streams_.emplace(name, std::make_unique<Stream>(name, state, std::move(control))).first->second;
    set_pinned_limit();
    return stream;
}

// The default limit depends on the largest stream, so it is computed again whenever streams change.
void Sessions::set_pinned_limit() {
    auto limit = limits_.pinned_bytes;
    if (limit == 0) {
        limit = least_pinned_limit_bytes;
        for (const auto& [name, stream] : streams_)
            limit = std::max(limit, 4 * codec::max_packed_bytes(stream->state.info().shape));
    }
    viewers_.set_pinned_limit(limit);
}

// `closed_to_new` is set last: wait_for_the_end() must not return before the end was sent.
void Sessions::end(Stream& stream, const std::string& failure) {
    stream.ending = true;
    if (!failure.empty())
        stream.last_words = std::make_shared<const Bytes>(error_message(Refusal::failed, failure, false));
    stream.state.finish();
    viewers_.send_all_missing(stream);
    tally_.count([&] { stream.closed_to_new = true; });
}

// The stream is erased when no worker uses it, because workers refer to it.
void Sessions::remove(Stream& stream, std::function<void()> removed) {
    stream.ending = true;
    viewers_.cut_off(stream);
    stream.when_idle = [this, &stream, removed = std::move(removed)] {
        streams_.erase(std::string(stream.name));
        set_pinned_limit();
        removed();
    };
    stream.tell_when_idle();
}

// One posted call serves all states published before it runs.
void Sessions::publish(Stream& stream) {
    if (stream.publishing.exchange(true)) return;  // the pending call will send this state, too
    loop_.post([this, &stream] {
        stream.publishing = false;
        viewers_.send_all_missing(stream);
    });
}

bool Sessions::wait_for_viewers(const Stream& stream, int count, std::stop_token stop) const {
    std::unique_lock lock(tally_.mutex);
    return tally_.changed.wait(lock, std::move(stop), [&] { return stream.metrics.viewers >= count; });
}

bool Sessions::wait_for_first_states(const Stream& stream, int count, std::stop_token stop) const {
    std::unique_lock lock(tally_.mutex);
    return tally_.changed.wait(lock, std::move(stop),
                               [&] { return stream.begun_viewers >= std::min(count, stream.metrics.viewers); });
}

void Sessions::wait_for_the_end(const Stream& stream, std::chrono::milliseconds deadline) const {
    std::unique_lock lock(tally_.mutex);
    tally_.changed.wait_for(lock, deadline, [&] {
        return stream.closed_to_new && stream.metrics.viewers == 0 && stream.ending_viewers == 0;
    });
}

StreamMetrics Sessions::metrics(const Stream& stream) const {
    const std::lock_guard lock(tally_.mutex);
    return stream.metrics;
}

ServerMetrics Sessions::metrics() const {
    const std::lock_guard lock(tally_.mutex);
    return tally_.total;
}

}  // namespace framewire::net
