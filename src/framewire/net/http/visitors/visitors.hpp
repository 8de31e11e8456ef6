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

/// The connections to a server that speak HTTP: their requests, the answers, feeds, and WebSockets until those are of a
/// stream. Their number is limited, and no peer keeps others out: if all places are taken, the peer with most of them
/// gives one up. Everything happens in the loop's thread, but for what is said.
class Visitors {
public:
    struct Limits {
        int waiting = 1;  ///< connections without a request under way
        int waiting_per_peer = 1;
        int under_way = 1;                             ///< requests and feeds; feeds take three quarters at most
        std::chrono::milliseconds request_deadline{};  ///< from a request's first byte to its last
        std::chrono::milliseconds idle_deadline{};     ///< from an answer to the next request's first byte
        std::chrono::milliseconds write_deadline{};    ///< without a byte taken of what is sent
    };
    /// How clients reach the server.
    struct Front {
        std::string base_path{};  ///< "/cams": requests may begin with it, and the rest is the path; empty: none
        TrustedProxies proxies{};
    };
    /// Takes over a WebSocket of the stream `name`, in which a viewer is to say hello.
    using TakeViewer = std::function<void(ConnectionPointer, std::string name)>;

    /// `loop` lives longer.
    Visitors(const Limits& limits, Front front, Loop& loop, Admission admission, TakeViewer take_viewer);
    Visitors(const Visitors&) = delete;
    Visitors& operator=(const Visitors&) = delete;

    /// A new connection, of which these bytes were read already.
    void come(ConnectionPointer connection, ByteSpan heard);
    /// Takes no more, and closes those without a request under way.
    void turn_away();
    /// To be called now and then.
    void check_deadlines();

    // From any thread but the loop's:

    /// As Listener's.
    void set_site(std::shared_ptr<const Site> site) { handlers_.set_site(std::move(site)); }
    /// Runs no handlers any more; returns when none runs.
    void stop_handlers() { handlers_.stop(); }

private:
    // Requests (visitors.cpp).
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

    // What becomes of them (visitors_handling.cpp).
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

    // Answers (visitors_answering.cpp).
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
    std::map<std::uint64_t, VisitorPointer> visitors_;  // the oldest first
    GreetingPlaces places_;
    GreetingPlaces leaving_;
    int under_way_ = 0, feeds_ = 0;
    bool closed_ = false;
    LimitedLog refusals_{LogLevel::info, "HTTP requests refused"};
    LimitedLog trouble_{LogLevel::error, "trouble in answering HTTP"};
    std::shared_ptr<Visitors*> self_;  // what other threads post back finds nobody when this has gone
    Handlers handlers_;                // last: they run until here
};

}  // namespace framewire::net::http
