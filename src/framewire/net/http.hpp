#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

class Feed;

/// Methods that routes support. HEAD is answered by the routes of GET; `remove` is DELETE.
enum class Method { get, head, put, post, remove };

/// A complete request that passed the limits and the admission checks. Authorization, Origin and Host were checked
/// before.
struct Request {
    Method method = Method::get;
    /// Path of the target, percent-decoded once. It has no empty, "." or ".." segments, except for one "/" at the end.
    /// The root is "/".
    std::string path;
    /// Values of the {names} in the route's pattern.
    std::map<std::string, std::string, std::less<>> parameters{};
    /// Decoded query parameters. If a name occurs twice, the first value counts.
    std::map<std::string, std::string, std::less<>> query{};
    /// The body. Of the type application/json for routes with Access::control.
    std::string body{};
    /// The Content-Type field, or empty.
    std::string content_type{};
    /// The If-None-Match field (RFC 9110, 13.1.2), or empty.
    std::string if_none_match{};
    /// Address of the client for messages, such as "127.0.0.1:40312".
    std::string peer{};
    /// Key of the client for limits per peer, see Connection::peer().
    std::string peer_key{};
    /// The Host field: the name and port under which the client reaches this server. Empty if it is missing.
    std::string host{};
    /// True if the request has the right token or the server needs none. Also determined for routes that need no token.
    bool let_in = false;
};

/// The response of a route.
struct Response {
    int status = 200;
    std::string content_type = "application/json";
    /// The body. If null, the body is empty.
    std::shared_ptr<const std::string> body{};
    /// Additional header fields. Each replaces the common field of the same name.
    std::vector<std::pair<std::string, std::string>> headers{};
    /// If set, the response streams the parts of this feed instead of sending `body`.
    std::shared_ptr<Feed> feed{};
};

/// Returns a response with a JSON body.
Response json_response(std::string json, int status = 200);
/// Returns a response with the body {"error":{"status":404,"text":"..."}}. `text` may hold any characters.
Response error_response(int status, std::string_view text);

/// Settings of a feed.
struct FeedOptions {
    /// How clients that are slower than the feed are handled. True: they get only the newest part (for pictures).
    /// False: they get every part, and are disconnected if more than `queued_limit_bytes` are pending (for lines).
    bool newest_only = false;
    std::size_t queued_limit_bytes = 1 << 20;
    /// True: clients start with an entry: the part of set_first(), then all parts since the newest entry, or since the
    /// next one if there is none. For coded video.
    bool starts_at_entry = false;
    /// With starts_at_entry: when an entry arrives and a part has been pending for longer than this, the client
    /// continues with the entry. The parts before it are dropped, except for that of set_first().
    std::optional<std::chrono::milliseconds> late_after{};
    /// True: the response is the first part alone, sent with its length once it is there. For responses that have to
    /// wait without occupying a thread.
    bool deferred = false;
    /// Status and text of the deferred response if the feed ends without a part.
    int absent_status = 404;
    std::string absent_text = "there is no such file, or no longer";
    /// Optional. Returns the oldest version that may still be sent. Older parts are dropped instead of being sent, and
    /// with them all parts up to the next entry. Parts are then sent one at a time, so that few are on their way.
    /// Called on any thread.
    std::function<std::uint64_t()> oldest_version{};
    /// Optional. Makes a function for each client, through which its parts pass when they are sent: for numbers that
    /// count from the client's start.
    std::function<std::function<std::shared_ptr<const std::string>(std::shared_ptr<const std::string> part)>()>
        for_client{};
};

/// Version of parts that may always be sent.
inline constexpr std::uint64_t always_allowed = std::numeric_limits<std::uint64_t>::max();

/// Properties of a feed's part.
struct PartTags {
    /// See FeedOptions::oldest_version.
    std::uint64_t version = 0;
    /// True if a client can start with this part.
    bool entry = true;
};

/// Source of an endless HTTP response or of WebSocket messages. Each part is encoded once and shared by all clients.
/// Thread-safe; publishing never waits for clients.
class Feed {
public:
    /// One immutable chunk of a response, or one WebSocket message.
    using Part = std::shared_ptr<const std::string>;

    /// Creates a feed without clients.
    explicit Feed(const FeedOptions& options = {});
    /// Ends the feed, see end().
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    /// Sends the part to all current clients.
    void publish(Part part, const PartTags& tags = {});
    /// Sets the part that clients receive first when they connect. It has no version. If null, they receive none.
    void set_first(Part part);
    /// Makes clients that connect from now on start with the next entry.
    void forget_entry();
    /// Ends the responses of all clients after the parts already published. The function set by on_wanted() is not
    /// called afterwards; end() waits for a call in progress, unless end() is called from that function.
    void end();

    /// Sends the part to all current and later clients and ends the feed, for a response that is complete later.
    void end_with(Part part, const PartTags& tags = {});

    /// Returns the number of clients.
    int clients() const;
    /// Sets a function that is called, on any thread, with true when the first client has connected and with false when
    /// the last one has left. Call it once, before the first client connects.
    void on_wanted(std::function<void(bool wanted)> reported);

    /// Returns true if the feed is a deferred response.
    bool is_deferred() const;
    /// Returns the deferred response if the feed ends without a part.
    Response absent_response() const;

private:
    friend class FeedClient;
    struct State;
    std::shared_ptr<State> state_;
};

/// One client of a feed, registered as long as this object exists. Its pending parts are bounded by the feed's options.
class FeedClient {
public:
    /// Registers the client. `wake` is called, on any thread, when parts arrive in an empty queue or the feed ends. It
    /// is called with the feed's mutex held, so it must not call the feed.
    FeedClient(std::shared_ptr<Feed> feed, std::function<void()> wake);
    /// Unregisters the client. `wake` is not called afterwards.
    ~FeedClient();
    FeedClient(const FeedClient&) = delete;
    FeedClient& operator=(const FeedClient&) = delete;

    /// Result of take().
    struct Taken {
        std::vector<Feed::Part> parts;
        /// No more parts will follow.
        bool ended = false;
        /// The client exceeded the limit and has to be disconnected.
        bool too_slow = false;
    };
    /// Removes and returns all pending parts, or only the first one if they have versions.
    Taken take();

private:
    friend class Feed;
    struct Queue;
    std::shared_ptr<Feed> feed_;
    std::shared_ptr<Queue> queue_;
};

/// Access level of a route.
enum class Access {
    /// No token is needed: for the page's files and the health check.
    everybody,
    /// Requires the token, if the server has one.
    viewers,
    /// Like `viewers`, but the request must not come from a page of another server, and must have a JSON body if it
    /// changes something.
    control,
};

/// Handles a request on a worker thread and may block; several run in parallel. Exceptions become responses:
/// Error{usage} 400, Error{no_input} 404, Error{config} 409, anything else 500.
using Handler = std::function<Response(const Request&)>;

/// Route of a site: the requests that it matches, and their handler.
struct Route {
    /// GET also answers HEAD and must not change anything.
    Method method = Method::get;
    /// A path such as "/api/cameras/{camera}/chain". A segment in braces matches any one non-empty segment.
    std::string pattern;
    Access access = Access::control;
    Handler handler;
    /// True if the response's feed is sent over a WebSocket, one message per part.
    bool websocket = false;
    /// If not empty, the route matches only requests whose query has this name, and precedes routes of the same pattern
    /// without it.
    std::string query{};
    /// True if the handler never blocks. It then runs on the loop's thread, even if the server has reached its request
    /// limit. For health checks.
    bool at_once = false;
};

/// The routes of an HTTP server. A path without a route is answered with 404, a method without a route with 405.
/// Streams are separate: GET /NAME/stream upgrades to a WebSocket with the stream protocol. Immutable once it is in
/// use.
class Site {
public:
    /// Adds a route. Throws Error{internal} if the route is invalid or another one hides it.
    void add(Route route);
    /// Returns all routes in the order in which they were added.
    const std::vector<Route>& routes() const { return routes_; }

    /// Result of match().
    struct Match {
        /// Null if no route matches; `allowed` then holds the methods of the path, or is empty (404).
        const Route* route = nullptr;
        std::map<std::string, std::string, std::less<>> parameters{};
        std::vector<Method> allowed{};
    };
    /// Finds the route for a request with these query parameters. If several patterns match, the one with a literal
    /// segment precedes the one that has braces at the same place; the first difference counts.
    Match match(Method method, std::string_view path, const std::map<std::string, std::string, std::less<>>& query,
                bool websocket) const;

private:
    std::vector<Route> routes_;
};

}  // namespace framewire::net::http
