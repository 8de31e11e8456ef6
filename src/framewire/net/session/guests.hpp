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

/// The pending connections of a server: those that have not completed their hello, and those that were refused and have
/// not closed. Both are limited in number. Everything runs on the loop's thread.
class Guests {
public:
    /// Limits on pending connections.
    struct Limits {
        /// Most connections without a complete hello, in total.
        int greeting = 1;
        /// The same per Connection::peer().
        int greeting_per_peer = 1;
        /// From the connection to the end of its hello.
        std::chrono::milliseconds hello_deadline{};
        /// Time for a refused connection to close.
        std::chrono::milliseconds farewell_deadline{};
        /// Their connections count as connections of many peers.
        TrustedProxies proxies{};
    };
    /// Takes over the connection of a viewer, or returns why it is refused and leaves the connection in place.
    using Admit = std::function<std::optional<ServerError>(const ViewerHello& hello, ConnectionPointer&)>;
    /// Takes over a connection that speaks HTTP, with the bytes read so far.
    using HandOver = std::function<void(ConnectionPointer, ByteSpan heard)>;
    /// Called with the number of refused connections and the bytes of the refusals sent.
    using Count = std::function<void(std::int64_t refused, std::int64_t word_bytes)>;

    /// `loop` must outlive this object. Viewers need `token` unless it is empty. If `hand_over` is null, HTTP is not
    /// recognised.
    Guests(const Limits& limits, std::string_view token, Loop& loop, Admit admit, Count count,
           HandOver hand_over = nullptr);

    /// Adds a new connection. If too many are pending, an older one is refused. If `stream` is not empty, the
    /// connection does not speak HTTP, and its hello must name that stream.
    void come(ConnectionPointer connection, std::string stream = {});
    /// Refuses all connections that have not completed their hello.
    void turn_away(const ServerError& why);
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();
    /// The token check, for other code that uses the same token.
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
    std::map<std::uint64_t, GuestPointer> greeting_, refused_;  // by age, the oldest first
    GreetingPlaces places_, farewells_;
    Gate gate_;
    std::array<std::uint8_t, 4096> discarded_{};  // read buffer for all refused connections
    LimitedLog refusals_{LogLevel::info, "connections refused"};
};

}  // namespace framewire::net
