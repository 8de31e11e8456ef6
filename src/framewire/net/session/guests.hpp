#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/access/gate.hpp"
#include "framewire/net/access/trusted_proxies.hpp"
#include "framewire/net/limits/greeting_places.hpp"
#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"
#include "framewire/net/wire/wire.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::net {

/// The connections to a server that are no viewers: those whose hello is awaited, and those that were turned away, told
/// why and have not closed yet. There are never more than so many of both. Everything happens in the loop's thread.
class Guests {
public:
    struct Limits {
        int greeting = 1;           ///< connections without a hello
        int greeting_per_peer = 1;  ///< those of one Connection::peer()
        std::chrono::milliseconds hello_deadline{};
        std::chrono::milliseconds farewell_deadline{};  ///< for who was turned away to close
        TrustedProxies proxies{};                       ///< whose connections count as those of many peers
    };
    /// Takes over the connection of a viewer that says `hello`; or says why not, and leaves it as it is.
    using Admit = std::function<std::optional<ServerError>(const ViewerHello& hello, ConnectionPointer&)>;
    /// Takes over a connection that speaks HTTP, and what it said so far.
    using HandOver = std::function<void(ConnectionPointer, ByteSpan heard)>;
    /// Is told of each that was turned away, and of the bytes of words it was sent.
    using Count = std::function<void(std::int64_t refused, std::int64_t word_bytes)>;

    /// `loop` lives longer. Of those with a hello only who has the token is admitted; empty: none is needed.
    /// Without `hand_over` nobody speaks HTTP.
    Guests(const Limits& limits, std::string_view token, Loop& loop, Admit admit, Count count,
           HandOver hand_over = nullptr);

    /// A new connection. When there are too many without a hello, another one is turned away for it. With a `stream`
    /// it speaks no HTTP any more, and its hello has to be for that one.
    void come(ConnectionPointer connection, std::string stream = {});
    /// Turns all away whose hello is awaited.
    void turn_away(const ServerError& why);
    /// To be called now and then.
    void check_deadlines();
    /// For others who let in by the same token.
    Gate& gate() { return gate_; }

private:
    struct Guest;
    using GuestPointer = std::shared_ptr<Guest>;

    std::string place_holder_of(const Guest& guest) const;
    void make_place(const GuestPointer& guest);
    void read_on(Guest& guest);
    void take_piece(const GuestPointer& guest, std::size_t bytes);
    void take_header(const GuestPointer& guest);
    void take_hello(const GuestPointer& guest);
    void refuse(const GuestPointer& guest, const ServerError& why);
    void discard_piece(const GuestPointer& guest, std::size_t bytes);
    void forget(Guest& guest);
    void close(const GuestPointer& guest);

    const Limits limits_;
    Loop& loop_;
    Admit admit_;
    Count count_;
    HandOver hand_over_;
    std::uint64_t come_so_far_ = 0;
    std::map<std::uint64_t, GuestPointer> greeting_, refused_;  // the oldest first
    GreetingPlaces places_, farewells_;
    Gate gate_;
    std::array<std::uint8_t, 4096> discarded_{};  // what is said by those turned away
    LimitedLog refusals_{LogLevel::info, "connections refused"};
};

}  // namespace framewire::net
