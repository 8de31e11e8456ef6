#include "framewire/net/guests.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/peer.hpp"

#include <utility>
#include <vector>

namespace framewire::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// Read and thrown away from who was refused: closing on unread bytes could cost it the words why.
constexpr std::size_t discarded_limit_bytes = 64 * 1024;

// A copy, for what is done to one may end it and others.
template <class Pointer>
std::vector<Pointer> all_of(const std::map<std::uint64_t, Pointer>& guests) {
    std::vector<Pointer> all;
    all.reserve(guests.size());
    for (const auto& [number, guest] : guests) all.push_back(guest);
    return all;
}

}  // namespace

struct Guests::Guest {
    enum class Phase { greeting, refused, gone };

    Guest(std::uint64_t number_, tcp::socket socket_)
        : number(number_), socket(std::move(socket_)), name(name_of(socket)) {}

    std::uint64_t number;
    tcp::socket socket;
    std::string name;
    Phase phase = Phase::greeting;
    Clock::time_point since = Clock::now();  // of the phase
    Bytes hello = Bytes(preamble_bytes + header_bytes);
    Bytes words;  // the last ones
    std::size_t discarded_bytes = 0;
};

Guests::Guests(const Limits& limits, Admit admit, Count count)
    : limits_(limits),
      admit_(std::move(admit)),
      count_(std::move(count)),
      places_(limits.greeting, limits.greeting_per_peer) {}

// A step of the greeting: what goes wrong there ends it.
template <class Handler>
auto Guests::greeting_step(const GuestPointer& guest, Handler handler) {
    return [this, guest, handler](const error_code& error, std::size_t) {
        if (guest->phase != Guest::Phase::greeting) return;
        if (error) {
            count_(1, 0);
            close(guest);
            return;
        }
        try {
            handler();
        } catch (const Error& problem) {
            refuse(guest, {Refusal::bad_request, problem.what()});
        }
    };
}

void Guests::come(tcp::socket socket) {
    const auto guest = std::make_shared<Guest>(++come_so_far_, std::move(socket));
    make_place(guest);
    asio::async_read(guest->socket, asio::buffer(guest->hello),
                     greeting_step(guest, [this, guest] { take_header(guest); }));
}

void Guests::make_place(const GuestPointer& guest) {
    error_code gone_already;  // then its peer is none, like that of others gone
    const auto end = guest->socket.remote_endpoint(gone_already);
    greeting_.emplace(guest->number, guest);
    const auto eviction = places_.enter(guest->number, peer_of(end.address()));
    if (!eviction) return;
    const auto loser = greeting_.find(eviction->connection);
    if (loser == greeting_.end()) return;
    const auto who = eviction->of_same_peer ? fmt::format("{} connections from its address", limits_.greeting_per_peer)
                                            : fmt::format("{} connections", limits_.greeting);
    refuse(GuestPointer(loser->second),
           {Refusal::too_many_viewers, who + " are without a hello already, the limit; newer ones go first"});
}

void Guests::take_header(const GuestPointer& guest) {
    const ByteSpan front(guest->hello);
    read_preamble(front.first(preamble_bytes));
    const auto header = read_header(front.subspan(preamble_bytes), 0);
    if (header.type != MessageType::hello) fail(ErrorCode::source_lost, "the viewer does not begin with a hello");
    guest->hello.resize(header.length_bytes);
    asio::async_read(guest->socket, asio::buffer(guest->hello),
                     greeting_step(guest, [this, guest] { take_hello(guest); }));
}

void Guests::take_hello(const GuestPointer& guest) {
    const auto stream = read_client_hello(guest->hello);
    if (const auto why = admit_(stream, guest->socket)) {
        refuse(guest, *why);
    } else {
        guest->phase = Guest::Phase::gone;
        places_.leave(guest->number);
        greeting_.erase(guest->number);
    }
}

// It closes when it has the words. Closing first could cost it them.
void Guests::refuse(const GuestPointer& guest, const ServerError& why) {
    refusals_.line("{} refused: {}", guest->name, why.text);
    places_.leave(guest->number);
    greeting_.erase(guest->number);
    if (refused_.size() >= static_cast<std::size_t>(limits_.greeting)) close(GuestPointer(refused_.begin()->second));
    refused_.emplace(guest->number, guest);
    guest->phase = Guest::Phase::refused;
    guest->since = Clock::now();
    guest->words = error_message(why.reason, why.text, true);
    count_(1, static_cast<std::int64_t>(guest->words.size()));
    await_closing(guest);
    asio::async_write(guest->socket, asio::buffer(guest->words), [this, guest](const error_code& error, std::size_t) {
        if (guest->phase != Guest::Phase::refused) return;
        error_code ignored;
        if (error)
            close(guest);
        else
            guest->socket.shutdown(tcp::socket::shutdown_send, ignored);
    });
}

void Guests::await_closing(const GuestPointer& guest) {
    guest->socket.async_read_some(asio::buffer(discarded_), [this, guest](const error_code& error, std::size_t bytes) {
        if (guest->phase != Guest::Phase::refused) return;
        guest->discarded_bytes += bytes;
        if (error || guest->discarded_bytes > discarded_limit_bytes)
            close(guest);
        else
            await_closing(guest);
    });
}

void Guests::close(const GuestPointer& guest) {
    guest->phase = Guest::Phase::gone;
    error_code ignored;
    guest->socket.close(ignored);
    places_.leave(guest->number);
    greeting_.erase(guest->number);
    refused_.erase(guest->number);
}

void Guests::turn_away(const ServerError& why) {
    for (const auto& guest : all_of(greeting_)) refuse(guest, why);
}

void Guests::check_deadlines(Clock::time_point now) {
    for (const auto& guest : all_of(greeting_))
        if (now - guest->since >= limits_.hello_deadline)
            refuse(guest,
                   {Refusal::bad_request, fmt::format("no whole hello within {} ms", limits_.hello_deadline.count())});
    for (const auto& guest : all_of(refused_))
        if (now - guest->since >= limits_.farewell_deadline) close(guest);
    refusals_.tell_left_out(now);
}

void Guests::close_all() {
    for (const auto* guests : {&greeting_, &refused_})
        for (const auto& guest : all_of(*guests)) close(guest);
}

}  // namespace framewire::net
