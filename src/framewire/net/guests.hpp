#pragma once

#include "framewire/core/clock.hpp"
#include "framewire/net/greeting_places.hpp"
#include "framewire/net/limited_log.hpp"
#include "framewire/net/wire.hpp"

#include <boost/asio.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace framewire::net {

/// The connections to a server that are no viewers: those whose hello is awaited, and those that were turned away, told
/// why and have not closed yet. There are never more than so many of both. Everything happens in the thread that runs
/// the sockets' context.
class Guests {
public:
    struct Limits {
        int greeting = 1;           ///< connections without a hello
        int greeting_per_peer = 1;  ///< those of one peer_of()
        std::chrono::milliseconds hello_deadline{};
        std::chrono::milliseconds farewell_deadline{};  ///< for who was turned away to close
    };
    /// Takes over the connection of a viewer that asks for `stream`; or says why not, and leaves it as it is.
    using Admit = std::function<std::optional<ServerError>(const std::string& stream, boost::asio::ip::tcp::socket&)>;
    /// Is told of each that was turned away, and of the bytes of words it was sent.
    using Count = std::function<void(std::int64_t refused, std::int64_t word_bytes)>;

    Guests(const Limits& limits, Admit admit, Count count);

    /// A new connection. When there are too many without a hello, another one is turned away for it.
    void come(boost::asio::ip::tcp::socket socket);
    /// Turns all away whose hello is awaited.
    void turn_away(const ServerError& why);
    /// To be called now and then.
    void check_deadlines(Clock::time_point now);
    void close_all();

private:
    struct Guest;
    using GuestPointer = std::shared_ptr<Guest>;

    template <class Handler>
    auto greeting_step(const GuestPointer& guest, Handler handler);
    void take_header(const GuestPointer& guest);
    void take_hello(const GuestPointer& guest);
    void make_place(const GuestPointer& guest);
    void refuse(const GuestPointer& guest, const ServerError& why);
    void await_closing(const GuestPointer& guest);
    void close(const GuestPointer& guest);

    const Limits limits_;
    Admit admit_;
    Count count_;
    std::uint64_t come_so_far_ = 0;
    std::map<std::uint64_t, GuestPointer> greeting_, refused_;  // the oldest first
    GreetingPlaces places_;
    std::array<std::uint8_t, 4096> discarded_{};  // what is said by those turned away
    LimitedLog refusals_{spdlog::level::info, "connections refused"};
};

}  // namespace framewire::net
