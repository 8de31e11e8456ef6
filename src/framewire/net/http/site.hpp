#pragma once

#include "framewire/net/http/exchange.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net::http {

/// Access level of a route.
enum class Access {
    /// No token: files of the page and the health check.
    everybody,
    /// Requires the token, if the server has one.
    viewers,
    /// Like viewers; in addition the request must come from the server's own pages or from no page, with a JSON body if
    /// it changes something.
    panel,
};

/// Handles a request on a worker thread and may block; several run in parallel. Exceptions become responses:
/// Error{usage} 400, Error{no_input} 404, Error{config} 409, anything else 500.
using Handler = std::function<Response(const Request&)>;

/// One entry of a site.
struct Route {
    /// GET also answers HEAD and must not change anything.
    Method method = Method::get;
    /// A path such as "/api/cameras/{camera}/chain". A segment in braces matches any one non-empty segment.
    std::string pattern;
    Access access = Access::panel;
    Handler handler;
    /// The response's feed is sent over a WebSocket, one message per part.
    bool websocket = false;
    /// If not empty, the route matches only requests whose query has this name, and precedes routes of the same pattern
    /// without it.
    std::string query{};
    /// The handler never blocks. It runs directly on the loop's thread, and also when the server has reached its
    /// request limit. For health checks.
    bool at_once = false;
};

/// The routes of an HTTP server. A path without a route is answered with 404, a method without a route with 405.
/// Streams are separate: GET /NAME/stream upgrades to a WebSocket with the stream protocol. Immutable once it is in
/// use.
class Site {
public:
    /// Adds a route. Throws Error{internal} if the route is invalid or another one hides it.
    void add(Route route);
    /// All routes in the order in which they were added.
    const std::vector<Route>& routes() const { return routes_; }

    /// Result of match().
    struct Match {
        /// Null if no route matches; `allowed` then holds the methods of the path, or is empty (404).
        const Route* route = nullptr;
        std::map<std::string, std::string, std::less<>> parameters{};
        std::vector<Method> allowed{};
    };
    /// Finds the route for a request. If several patterns match, the one whose braces come latest is used. `query` is
    /// the request's query.
    Match match(Method method, std::string_view path, const std::map<std::string, std::string, std::less<>>& query,
                bool websocket) const;

private:
    std::vector<Route> routes_;
};

}  // namespace framewire::net::http
