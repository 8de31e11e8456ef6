#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/http_request.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/websocket.hpp"
#include "framewire/net/wire.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire::net::http {

/// Runs a site's handlers on up to four worker threads. The caller limits how many wait. Thread-safe.
class Handlers {
public:
    /// Starts without a site and refuses every task until set_site().
    Handlers() = default;
    /// Stops, see stop().
    ~Handlers();
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    /// The current site, or null.
    std::shared_ptr<const Site> site() const;
    /// Replaces the site. Waiting tasks of the previous one are called with false. Returns when no handler of the
    /// previous site runs.
    void set_site(std::shared_ptr<const Site> site);
    /// Work for a thread. If `may_use_site` is false, its site has been replaced and must not be used.
    using Task = std::function<void(bool may_use_site)>;
    /// Queues `task`, which is called once, and keeps `site` alive until then. Peers take turns, so a peer with many
    /// requests does not delay the others. Returns false if `site` is no longer current.
    bool run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task);
    /// Calls `task` on this thread before it returns. Returns false if `site` is no longer current.
    bool run_here(const std::shared_ptr<const Site>& site, const Task& task);
    /// Discards waiting tasks and returns when none runs. Tasks are refused afterwards.
    void stop();

private:
    struct Job {
        std::shared_ptr<const Site> site;
        Task task;
    };
    Job take_next();
    void work();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Site> site_;
    std::map<std::string, std::deque<Job>> waiting_;  // by peer; no queue is empty
    std::deque<std::string> turns_;                   // peers with waiting jobs, the next one first
    std::vector<const Site*> running_;
    std::vector<std::thread> threads_;
    bool stopped_ = false;
};

/// How the end of a response's body is marked (RFC 9112, 6.3).
enum class BodyForm {
    /// Content-Length.
    whole,
    /// Transfer-Encoding: chunked.
    chunked,
    /// The end of the connection, for HTTP/1.0.
    to_the_end
};

/// Returns the status line and all fields up to the empty line. Throws Error{internal} if a field contains a line break
/// or has no name.
std::string header_text(const Response& response, BodyForm form, bool keep_alive);
/// Returns the fields that every response has, without those that `response` replaces.
std::string common_fields(const Response& response);

/// State of one HTTP connection. Only the loop's thread uses it.
struct HttpConnection : std::enable_shared_from_this<HttpConnection> {
    /// Current activity of the connection. HttpConnections::enter() changes it.
    enum class Phase {
        waiting,    ///< waits for a request or reads one
        handled,    ///< a handler works on the request; nothing is read
        answering,  ///< a response is being written
        upgrading,  ///< the WebSocket handshake is in progress
        proving,    ///< a WebSocket whose first message must contain the token
        feeding,    ///< receives the parts of a feed
        leaving,    ///< the last response has been written; waits for the peer to close
        // The connection is closed.
        gone,
    };

    HttpConnection(std::uint64_t number_, ConnectionPointer connection_, Clock::time_point now)
        : number(number_),
          connection(std::move(connection_)),
          name(connection->name()),
          peer(connection->peer()),
          since(now),
          progress(now) {}

    std::uint64_t number;
    ConnectionPointer connection;
    /// The other end is a trusted proxy.
    bool is_proxy = false;
    /// Name and peer of the connection, or of the client that a trusted proxy forwards for.
    std::string name, peer;
    /// The connection, if it is a WebSocket; otherwise null.
    WebSocketConnection* socket = nullptr;
    Phase phase = Phase::waiting;
    /// Start of the phase. While a request is read, the time of its first byte.
    Clock::time_point since;
    /// When the peer last took a byte.
    Clock::time_point progress;

    bool reading = false;
    std::array<std::uint8_t, 4096> piece{};
    RequestReader reader{};
    std::size_t discarded_bytes = 0;

    // The request being handled.
    RawRequest raw{};
    Target target{};
    bool let_in = false, head_only = false, keep_alive = false;

    // Its response.
    std::string head{};
    Feed::Part body{};
    bool writing = false;
    std::size_t taken_bytes = 0;

    // The feed that follows the response.
    std::unique_ptr<FeedClient> feed{};
    bool chunked = false, feed_ended = false;
    std::vector<std::string> chunk_heads{};
    std::vector<Feed::Part> parts{};
    std::string said{};  ///< first message of a WebSocket, as received so far
    std::function<void(const std::shared_ptr<HttpConnection>&)>
        after_proof{};  ///< continues after the token was accepted
};

using HttpConnectionPointer = std::shared_ptr<HttpConnection>;

/// The HTTP connections of a server: their requests, responses and feeds, and WebSockets until they are handed over as
/// viewers. Their number is limited, and one peer cannot exclude the others: if all places are taken, the peer that
/// holds the most loses one. Everything runs on the loop's thread unless stated otherwise.
class HttpConnections {
public:
    /// Maximum number of connections, and deadlines.
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
    HttpConnections(const Limits& limits, Front front, Loop& loop, Admission admission, TakeViewer take_viewer);
    HttpConnections(const HttpConnections&) = delete;
    HttpConnections& operator=(const HttpConnections&) = delete;

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
    // Reading requests and deadlines.
    void await_request(const HttpConnectionPointer& http);
    void admit(const HttpConnectionPointer& http);
    void read_on(HttpConnection& http);
    void take_piece(const HttpConnectionPointer& http, std::size_t bytes);
    void take_request_bytes(const HttpConnectionPointer& http, ByteSpan bytes);
    void discard(const HttpConnectionPointer& http, std::size_t bytes);
    void enter(HttpConnection& http, HttpConnection::Phase phase);
    void give_up(const std::optional<HandshakeLimiter::Eviction>& eviction, std::string_view what);
    bool make_room(const HttpConnection& newcomer, bool feeds);
    void close(const HttpConnectionPointer& http);
    void check_deadline(const HttpConnectionPointer& http, Clock::time_point now);

    // Handling requests.
    void handle(const HttpConnectionPointer& http);
    void identify(HttpConnection& http) const;
    bool redirect_to_base_path(const HttpConnectionPointer& http);
    void handle_upgrade(const HttpConnectionPointer& http);
    void run_route(const HttpConnectionPointer& http, const std::shared_ptr<const Site>& site, const Route& route,
                   std::map<std::string, std::string, std::less<>> parameters);
    void upgrade(const HttpConnectionPointer& http, bool text, std::function<void(const HttpConnectionPointer&)> done);
    void take_proof(const HttpConnectionPointer& http);
    void take_first_message(const HttpConnectionPointer& http, std::size_t bytes);
    void take_response(const HttpConnectionPointer& http, const Response& response);

    // Responses and feeds.
    void refuse(const HttpConnectionPointer& http, const Refused& why, bool last);
    void answer(const HttpConnectionPointer& http, const Response& response);
    void trouble(const HttpConnection& http, std::string_view what);
    void answered(const HttpConnectionPointer& http, const std::error_code& error);
    void begin_feed(const HttpConnectionPointer& http, const std::shared_ptr<Feed>& feed);
    void send_parts(const HttpConnectionPointer& http);
    void leave(const HttpConnectionPointer& http);
    void write(const HttpConnectionPointer& http, std::span<const std::span<const std::uint8_t>> pieces,
               void (HttpConnections::*done)(const HttpConnectionPointer&, const std::error_code&));
    void parts_taken(const HttpConnectionPointer& http, const std::error_code& error);

    const Limits limits_;
    const Front front_;
    Loop& loop_;
    Admission admission_;
    TakeViewer take_viewer_;
    std::uint64_t come_so_far_ = 0;
    std::map<std::uint64_t, HttpConnectionPointer> connections_;  // by age, the oldest first
    HandshakeLimiter pending_limiter_;
    HandshakeLimiter leaving_;
    int under_way_ = 0, feeds_ = 0;
    bool closed_ = false;
    LimitedLog refusals_{LogLevel::info, "HTTP requests refused"};
    LimitedLog trouble_{LogLevel::error, "problems while answering HTTP requests"};
    std::shared_ptr<HttpConnections*> self_;  // expires with this object; tasks posted by other threads check it
    Handlers handlers_;                       // last, because its threads use the other members
};

}  // namespace framewire::net::http
