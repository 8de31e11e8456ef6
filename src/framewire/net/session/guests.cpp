#include "framewire/net/session/guests.hpp"

#include "framewire/core/error.hpp"

#include <span>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

// Read and thrown away from who was refused: closing on unread bytes could cost it the words why.
constexpr std::size_t discarded_limit_bytes = 64 * 1024;

// The first letter of a method. The protocol's own connections begin with another one.
bool begins_http(std::uint8_t first) {
    return std::string_view("CDGHOPT").find(static_cast<char>(first)) != std::string_view::npos;
}

// A copy, for what is done to one may end it and others.
template <class Pointer>
std::vector<Pointer> all_of(const std::map<std::uint64_t, Pointer>& guests) {
    std::vector<Pointer> all;
    all.reserve(guests.size());
    for (const auto& [number, guest] : guests) all.push_back(guest);
    return all;
}

}  // namespace

struct Guests::Guest : std::enable_shared_from_this<Guests::Guest> {
    enum class Phase { greeting, refused, gone };

    Guest(std::uint64_t number_, ConnectionPointer connection_, Clock::time_point now)
        : number(number_), connection(std::move(connection_)), since(now) {}

    std::uint64_t number;
    ConnectionPointer connection;
    std::string stream{};  // that it has to ask for; empty: any
    Phase phase = Phase::greeting;
    Clock::time_point since;  // of the phase
    bool reading = false;
    Bytes hello = Bytes(preamble_bytes + header_bytes);  // its front, then what follows
    std::size_t heard_bytes = 0;                         // of that
    bool front_heard = false;
    std::uint16_t version = 0;  // of the protocol, that it offers
    Bytes words;                // the last ones
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

// A step of the greeting: what goes wrong there ends it.
void Guests::take_piece(const GuestPointer& guest, std::size_t bytes) {
    const bool first = guest->heard_bytes == 0 && !guest->front_heard;
    guest->heard_bytes += bytes;
    try {
        if (first) {
            // How somebody is turned away depends on what they speak.
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
        forget(*guest);  // without memory; its connection goes with it, or is a viewer's already
        throw;
    }
}

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
    // Before anything is said of streams: their names are for those who may come in.
    if (const auto why = gate_.check(guest->connection->peer(), hello.token, loop_.now()))
        refuse(guest, *why);
    else if (!guest->stream.empty() && hello.stream != guest->stream)
        refuse(guest, {Refusal::bad_request, "its hello asks for another stream than its WebSocket"});
    else if (const auto why_not = admit_(hello, guest->connection))
        refuse(guest, *why_not);
    else
        forget(*guest);
}

void Guests::forget(Guest& guest) {
    guest.phase = Guest::Phase::gone;
    places_.leave(guest.number);
    farewells_.leave(guest.number);
    greeting_.erase(guest.number);
    refused_.erase(guest.number);
}

// It closes when it has the words. Closing first could cost it them.
void Guests::refuse(const GuestPointer& guest, const ServerError& why) {
    refusals_.line_of(guest->connection->peer(), "{} refused: {}", guest->connection->name(), why.text);
    places_.leave(guest->number);
    greeting_.erase(guest->number);
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
