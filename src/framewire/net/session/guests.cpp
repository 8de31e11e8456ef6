// The handshake of the stream protocol: the first byte decides between HTTP and the stream protocol, then the preamble,
// the header and the hello are read one after the other. A refused connection stays until the peer closes it.

#include "framewire/net/session/guests.hpp"

#include "framewire/core/error.hpp"

#include <span>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

// Most bytes that are read and discarded from a refused connection. Closing with unread bytes would reset the
// connection, and the peer could lose the reason.
constexpr std::size_t discarded_limit_bytes = 64 * 1024;

// Returns true if the byte starts an HTTP method. The stream protocol starts with a different letter.
bool begins_http(std::uint8_t first) {
    return std::string_view("CDGHOPT").find(static_cast<char>(first)) != std::string_view::npos;
}

// Returns a copy, because handling one connection may remove it and others.
template <class Pointer>
std::vector<Pointer> all_of(const std::map<std::uint64_t, Pointer>& guests) {
    std::vector<Pointer> all;
    all.reserve(guests.size());
    for (const auto& [number, guest] : guests) all.push_back(guest);
    return all;
}

}  // namespace

// A pending connection: reading its hello, or refused and waiting for the peer to close.
struct Guests::Guest : std::enable_shared_from_this<Guests::Guest> {
    enum class Phase { greeting, refused, gone };

    Guest(std::uint64_t number_, ConnectionPointer connection_, Clock::time_point now)
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

Guests::Guests(const Limits& limits, std::string_view token, Loop& loop, Admit admit, Count count, HandOver hand_over)
    : limits_(limits),
      loop_(loop),
      admit_(std::move(admit)),
      count_(std::move(count)),
      hand_over_(std::move(hand_over)),
      places_(limits.greeting, limits.greeting_per_peer),
      farewells_(limits.greeting, limits.greeting_per_peer),
      gate_(token) {}

void Guests::come(ConnectionPointer connection, std::string stream) {
    const auto guest = std::make_shared<Guest>(++come_so_far_, std::move(connection), loop_.now());
    guest->stream = std::move(stream);
    make_place(guest);
    if (guest->phase == Guest::Phase::greeting) read_on(*guest);
}

std::string Guests::place_holder_of(const Guest& guest) const {
    return place_holder(guest.number, guest.connection->peer(), limits_.proxies.trusts(*guest.connection));
}

// Adds the connection to the pending ones. The limiter may refuse an older one for it.
void Guests::make_place(const GuestPointer& guest) {
    greeting_.emplace(guest->number, guest);
    const auto eviction = places_.enter(guest->number, place_holder_of(*guest));
    if (!eviction) return;
    const auto loser = greeting_.find(eviction->connection);
    if (loser == greeting_.end()) return;
    const auto who = eviction->of_same_peer ? fmt::format("{} connections from its address", limits_.greeting_per_peer)
                                            : fmt::format("{} connections", limits_.greeting);
    refuse(GuestPointer(loser->second),
           {Refusal::too_many_viewers, who + " are without a hello already, the limit; newer ones go first"});
}

// Reads the next bytes, into the hello or, after a refusal, into a buffer that nobody reads.
void Guests::read_on(Guest& guest) {
    if (guest.reading) return;
    guest.reading = true;
    const auto into = guest.phase == Guest::Phase::greeting ? std::span(guest.hello).subspan(guest.heard_bytes)
                                                            : std::span<std::uint8_t>(discarded_);
    guest.connection->read_some(into, [this, &guest](const std::error_code& error, std::size_t bytes) {
        const auto held = guest.shared_from_this();
        guest.reading = false;
        if (error || bytes == 0) {
            if (guest.phase == Guest::Phase::greeting) {
                count_(1, 0);
                if (error)
                    refusals_.line_of(guest.connection->peer(), "{} refused: {}", guest.connection->name(),
                                      error.message());
            }
            close(held);
        } else if (guest.phase == Guest::Phase::greeting) {
            take_piece(held, bytes);
        } else {
            discard_piece(held, bytes);
        }
    });
}

// Takes one piece of the hello. Any error refuses the connection.
void Guests::take_piece(const GuestPointer& guest, std::size_t bytes) {
    const bool first = guest->heard_bytes == 0 && !guest->front_heard;
    guest->heard_bytes += bytes;
    try {
        if (first) {
            // The protocol has to be known first, because a refusal depends on it.
            if (hand_over_ && guest->stream.empty() && begins_http(guest->hello[0])) {
                forget(*guest);
                return hand_over_(std::move(guest->connection), ByteSpan(guest->hello).first(bytes));
            }
            if (const auto why = gate_.closed_to(guest->connection->peer(), loop_.now())) return refuse(guest, *why);
        }
        if (guest->heard_bytes == guest->hello.size()) {
            if (guest->front_heard) return take_hello(guest);
            take_header(guest);
        }
        read_on(*guest);
    } catch (const Error& problem) {
        refuse(guest, {Refusal::bad_request, problem.what()});
    } catch (...) {
        forget(*guest);  // out of memory: the connection is destroyed here, or it belongs to a viewer already
        throw;
    }
}

// The preamble and the header are complete: the length of the hello is known now.
void Guests::take_header(const GuestPointer& guest) {
    const ByteSpan front(guest->hello);
    guest->version = read_viewer_preamble(front.first(preamble_bytes));
    const auto header = read_viewer_header(front.subspan(preamble_bytes));
    if (header.type != MessageType::hello) fail(ErrorCode::source_lost, "the viewer does not begin with a hello");
    guest->front_heard = true;
    guest->heard_bytes = 0;
    guest->hello.resize(header.length_bytes);
}

void Guests::take_hello(const GuestPointer& guest) {
    const auto hello = read_viewer_hello(guest->hello, guest->version);
    // Checked before the stream is looked up: its name must not be disclosed without the token.
    if (const auto why = gate_.check(guest->connection->peer(), hello.token, loop_.now()))
        refuse(guest, *why);
    else if (!guest->stream.empty() && hello.stream != guest->stream)
        refuse(guest, {Refusal::bad_request, "its hello asks for another stream than its WebSocket"});
    else if (const auto why_not = admit_(hello, guest->connection))
        refuse(guest, *why_not);
    else
        forget(*guest);
}

// Removes the connection from all lists. Unless a running callback holds it, it is destroyed.
void Guests::forget(Guest& guest) {
    guest.phase = Guest::Phase::gone;
    places_.leave(guest.number);
    farewells_.leave(guest.number);
    greeting_.erase(guest.number);
    refused_.erase(guest.number);
}

// The peer closes after it has received the reason. If the server closed first, unread bytes could reset the connection
// and lose it.
void Guests::refuse(const GuestPointer& guest, const ServerError& why) {
    refusals_.line_of(guest->connection->peer(), "{} refused: {}", guest->connection->name(), why.text);
    places_.leave(guest->number);
    greeting_.erase(guest->number);
    // Refused connections are limited like pending ones, so the oldest may be closed.
    if (const auto eviction = farewells_.enter(guest->number, place_holder_of(*guest)))
        if (const auto loser = refused_.find(eviction->connection); loser != refused_.end())
            close(GuestPointer(loser->second));
    refused_.emplace(guest->number, guest);
    guest->phase = Guest::Phase::refused;
    guest->since = loop_.now();
    guest->words = error_message(why.reason, why.text, true);
    count_(1, static_cast<std::int64_t>(guest->words.size()));
    read_on(*guest);
    const ByteSpan words(guest->words);
    guest->connection->write({&words, 1}, {}, [this, told = guest.get()](const std::error_code& error, std::size_t) {
        if (error)
            close(told->shared_from_this());
        else
            told->connection->end_writing();
    });
}

// Bytes after a refusal are ignored, up to a limit.
void Guests::discard_piece(const GuestPointer& guest, std::size_t bytes) {
    guest->discarded_bytes += bytes;
    if (guest->discarded_bytes > discarded_limit_bytes)
        close(guest);
    else
        read_on(*guest);
}

void Guests::close(const GuestPointer& guest) {
    forget(*guest);
    guest->connection->close();
}

void Guests::turn_away(const ServerError& why) {
    for (const auto& guest : all_of(greeting_)) refuse(guest, why);
}

void Guests::check_deadlines() {
    const auto now = loop_.now();
    for (const auto& guest : all_of(greeting_))
        if (now - guest->since >= limits_.hello_deadline)
            refuse(guest,
                   {Refusal::bad_request, fmt::format("no whole hello within {} ms", limits_.hello_deadline.count())});
    for (const auto& guest : all_of(refused_))
        if (now - guest->since >= limits_.farewell_deadline) close(guest);
    refusals_.tell_left_out(now);
}

}  // namespace framewire::net
