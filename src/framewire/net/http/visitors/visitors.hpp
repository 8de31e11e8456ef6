#pragma once

#include "framewire/net/access/trusted_proxies.hpp"
#include "framewire/net/http/request/admission.hpp"
#include "framewire/net/http/visitors/handlers.hpp"
#include "framewire/net/http/visitors/visitor.hpp"
#include "framewire/net/limits/greeting_places.hpp"
#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace framewire::net::http {

/// The HTTP connections of a server: their requests, responses and feeds, and WebSockets until they are handed over as
/// viewers. Their number is limited, and one peer cannot exclude the others: if all places are taken, the peer that
/// holds the most loses one. Everything runs on the loop's thread unless stated otherwise.
class Visitors {
public:
    /// Most connections, and deadlines.
    struct Limits {
        /// Connections without a request in progress, in total.
        int waiting = 1;
        /// Connections without a request in progress, per peer.
        int waiting_per_peer = 1;
        /// Requests and feeds in progress. Feeds take at most three quarters.
        int under_way = 1;
        /// From the first to the last byte of a request.
        std::chrono::milliseconds request_deadline{};
        /// From a response to the first byte of the next request.
        std::chrono::milliseconds idle_deadline{};
        /// Without a byte taken by the peer.
        std::chrono::milliseconds write_deadline{};
    };
    /// How clients reach the server through proxies.
    struct Front {
        /// For example "/cams": requests may begin with it, and it is removed from their path. Empty: none.
        std::string base_path{};
        TrustedProxies proxies{};
    };
    /// Takes over a WebSocket for the stream `name`, on which the viewer sends its hello.
    using TakeViewer = std::function<void(ConnectionPointer, std::string name)>;

    /// `loop` must outlive this object.
    Visitors(const Limits& limits, Front front, Loop& loop, Admission admission, TakeViewer take_viewer);
    Visitors(const Visitors&) = delete;
    Visitors& operator=(const Visitors&) = delete;

    /// Adds a new connection. `heard` are the bytes already read from it.
    void come(ConnectionPointer connection, ByteSpan heard);
    /// Accepts no more connections and closes those without a request in progress.
    void turn_away();
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

    // The following functions may be called on any thread except the loop's:

    /// See Listener::set_site().
    void set_site(std::shared_ptr<const Site> site) { handlers_.set_site(std::move(site)); }
    /// Stops running handlers and returns when none runs.
    void stop_handlers() { handlers_.stop(); }

private:
    // Reading requests and deadlines (visitors.cpp).
    void await_request(const VisitorPointer& visitor);
    void make_place(const VisitorPointer& visitor);
    void read_on(Visitor& visitor);
    void take_piece(const VisitorPointer& visitor, std::size_t bytes);
    void take_request_bytes(const VisitorPointer& visitor, ByteSpan bytes);
    void discard(const VisitorPointer& visitor, std::size_t bytes);
    void enter(Visitor& visitor, Visitor::Phase phase);
    void give_up(const std::optional<GreetingPlaces::Eviction>& eviction, std::string_view what);
    bool make_room(const Visitor& newcomer, bool feeds);
    void close(const VisitorPointer& visitor);
    void check_deadline(const VisitorPointer& visitor, Clock::time_point now);

    // Handling requests (visitors_handling.cpp).
    void handle(const VisitorPointer& visitor);
    void identify(Visitor& visitor) const;
    bool redirect_to_base_path(const VisitorPointer& visitor);
    void handle_upgrade(const VisitorPointer& visitor);
    void run_route(const VisitorPointer& visitor, const std::shared_ptr<const Site>& site, const Route& route,
                   std::map<std::string, std::string, std::less<>> parameters);
    void upgrade(const VisitorPointer& visitor, bool text, std::function<void(const VisitorPointer&)> done);
    void take_proof(const VisitorPointer& visitor);
    void take_first_message(const VisitorPointer& visitor, std::size_t bytes);
    void take_response(const VisitorPointer& visitor, const Response& response);

    // Responses and feeds (visitors_answering.cpp).
    void refuse(const VisitorPointer& visitor, const Refused& why, bool last);
    void answer(const VisitorPointer& visitor, const Response& response);
    void trouble(const Visitor& visitor, std::string_view what);
    void answered(const VisitorPointer& visitor, const std::error_code& error);
    void begin_feed(const VisitorPointer& visitor, const std::shared_ptr<Feed>& feed);
    void send_parts(const VisitorPointer& visitor);
    void leave(const VisitorPointer& visitor);
    void write(const VisitorPointer& visitor, std::span<const std::span<const std::uint8_t>> pieces,
               void (Visitors::*done)(const VisitorPointer&, const std::error_code&));
    void parts_taken(const VisitorPointer& visitor, const std::error_code& error);

    const Limits limits_;
    const Front front_;
    Loop& loop_;
    Admission admission_;
    TakeViewer take_viewer_;
    std::uint64_t come_so_far_ = 0;
    std::map<std::uint64_t, VisitorPointer> visitors_;  // by age, the oldest first
    GreetingPlaces places_;
    GreetingPlaces leaving_;
    int under_way_ = 0, feeds_ = 0;
    bool closed_ = false;
    LimitedLog refusals_{LogLevel::info, "HTTP requests refused"};
    LimitedLog trouble_{LogLevel::error, "trouble in answering HTTP"};
    std::shared_ptr<Visitors*> self_;  // expires with this object; tasks posted by other threads check it
    Handlers handlers_;                // last, because its threads use the other members
};

}  // namespace framewire::net::http
