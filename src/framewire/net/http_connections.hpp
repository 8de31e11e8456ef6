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

/// Runs a site's handlers on up to four worker threads. The caller limits the number of waiting tasks. Thread-safe.
class Handlers {
public:
    /// Starts without a site and refuses every task until set_site().
    Handlers() = default;
    /// Stops, see stop().
    ~Handlers();
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    /// Returns the current site, or null.
    std::shared_ptr<const Site> site() const;
    /// Replaces the site. Waiting tasks of the previous site are called with false. Returns when no handler of the
    /// previous site runs.
    void set_site(std::shared_ptr<const Site> site);
    /// Task for a worker thread. If `may_use_site` is false, the task's site has been replaced and must not be used.
    using Task = std::function<void(bool may_use_site)>;
    /// Queues `task`, which is called once, and keeps `site` alive until then. Peers take turns, so a peer with many
    /// requests does not delay the others. Returns false if `site` is no longer current.
    bool run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task);
    /// Calls `task` on this thread before it returns. Returns false if `site` is no longer current.
    bool run_here(const std::shared_ptr<const Site>& site, const Task& task);
    /// Discards waiting tasks and returns when no task is running. Tasks are refused afterwards.
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
    std::map<std::string, std::deque<Job>> waiting_;  // by peer; empty queues are removed
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
std::string header_text(const Response& response, BodyForm form, bool keep_alive,
                        std::span<const std::string> frame_ancestors = {});
/// Returns the fields that every response has, without those that `response` replaces. Pages of the sites
/// `frame_ancestors`, see validate_frame_ancestor(), may show the response in a frame.
std::string common_fields(const Response& response, std::span<const std::string> frame_ancestors = {});

/// State of one HTTP connection. Only the loop's thread uses it.
struct HttpConnection : std::enable_shared_from_this<HttpConnection> {
    /// Current activity of the connection. Only HttpConnections::enter() changes it.
    enum class Phase {
        waiting,    ///< waits for a request or reads one
        handled,    ///< a handler works on the request; nothing is read
        answering,  ///< a response is being written
        upgrading,  ///< the WebSocket handshake is in progress
        proving,    ///< waits for the first message of a WebSocket, which must contain the token
        feeding,    ///< sends the parts of a feed
        leaving,    ///< the last response has been written; waits for the peer to close
        gone,       ///< the connection is closed
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
    /// True if the other end is a trusted proxy.
    bool is_proxy = false;
    /// Name and peer of the client: those of the connection, or as reported by a trusted proxy.
    std::string name, peer;
    /// `connection` if it is a WebSocket, otherwise null.
    WebSocketConnection* socket = nullptr;
    Phase phase = Phase::waiting;
    /// Start of the phase; while a request is being read, the arrival of its first byte.
    Clock::time_point since;
    /// Time at which the peer last accepted a byte.
    Clock::time_point progress;

    bool reading = false;
    std::array<std::uint8_t, 4096> piece{};
    RequestReader reader{};
    std::size_t discarded_bytes = 0;

    // The request being handled.
    RawRequest raw{};
    Target target{};
    bool let_in = false, head_only = false, keep_alive = false;

    // The response to that request.
    std::string head{};
    Feed::Part body{};
    bool writing = false;
    std::size_t taken_bytes = 0;

    // The feed that follows the response header.
    std::unique_ptr<FeedClient> feed{};
    bool chunked = false, feed_ended = false;
    std::optional<Response> deferred{};  ///< response whose body the feed delivers as a whole
    bool reads_ahead = false;            ///< a read was started while the response was deferred
    Bytes ahead{};                       ///< bytes of the next request from that read
    std::vector<std::string> chunk_heads{};
    std::vector<Feed::Part> parts{};
    std::string said{};  ///< first message of a WebSocket, as received so far
    std::function<void(const std::shared_ptr<HttpConnection>&)>
        after_proof{};  ///< called once the token has been accepted
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
        /// Requests and feeds in progress. Feeds may be at most three quarters of them.
        int under_way = 1;
        /// Maximum time from the first to the last byte of a request.
        std::chrono::milliseconds request_deadline{};
        /// Maximum time from a response to the first byte of the next request.
        std::chrono::milliseconds idle_deadline{};
        /// Maximum time in which the peer accepts no byte.
        std::chrono::milliseconds write_deadline{};
    };
    /// Reverse proxies in front of the server, the path at which they publish it, and the sites around its pages.
    struct Front {
        /// Prefix with which the paths of requests may begin, such as "/cams". It is removed from them. Empty: no
        /// prefix.
        std::string base_path{};
        TrustedProxies proxies{};
        /// Sites whose pages may show responses in frames, see validate_frame_ancestor().
        std::vector<std::string> frame_ancestors{};
    };
    /// Takes over a WebSocket for the stream `name`, on which the viewer will send its hello.
    using TakeViewer = std::function<void(ConnectionPointer, std::string name)>;

    /// `loop` must outlive this object.
    HttpConnections(const Limits& limits, Front front, Loop& loop, Admission admission, TakeViewer take_viewer);
    HttpConnections(const HttpConnections&) = delete;
    HttpConnections& operator=(const HttpConnections&) = delete;

    /// Adds a new connection. `heard` holds the bytes already read from it.
    void come(ConnectionPointer connection, ByteSpan heard);
    /// Accepts no more connections and closes those without a request in progress.
    void turn_away();
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

    // The following functions may be called on any thread except the loop's:

    /// See Listener::set_site().
    void set_site(std::shared_ptr<const Site> site) { handlers_.set_site(std::move(site)); }
    /// Starts no more handlers and returns when none is running.
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
    void answer_deferred(const HttpConnectionPointer& http);
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
    LimitedLog refusals_{LogLevel::info, "refused HTTP requests"};
    LimitedLog trouble_{LogLevel::error, "problems while answering HTTP requests"};
    std::shared_ptr<HttpConnections*> self_;  // expires with this object; tasks posted by other threads check it
    Handlers handlers_;                       // last, because its threads use the other members
};

}  // namespace framewire::net::http
