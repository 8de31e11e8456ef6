#pragma once

#include "framewire/net/http/exchange.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net::http {

/// Who may ask a route.
enum class Access {
    everybody,  ///< files of the page, and whether the server is well
    viewers,    ///< who has the token, where the server has one
    panel,      ///< viewers, from the server's own pages or no page at all, with a JSON body: what changes something
};

/// May take its time: it runs beside the loop that connections live in, several at once. What it throws becomes an
/// answer: Error{usage} 400, Error{no_input} 404, Error{config} 409, anything else 500.
using Handler = std::function<Response(const Request&)>;

struct Route {
    Method method = Method::get;  ///< GET answers HEAD, too, and never changes anything
    std::string pattern;          ///< "/api/cameras/{camera}/chain"; a part in braces takes any one part of a path
    Access access = Access::panel;
    Handler handler;
    bool websocket = false;  ///< the answer's feed goes to a WebSocket, one message each part, not to an HTTP answer
    /// Takes only requests whose query has this name, before routes of the same pattern without; empty: any.
    std::string query{};
    /// The handler never waits: it runs in the loop's thread at once, and is answered even if the server is busy with
    /// as many requests as it takes. For what says whether the server runs.
    bool at_once = false;
};

/// What a server answers over HTTP: routes, and nothing else. A path that no route has is 404, a method that its routes
/// have not is 405. Streams are beside it: GET /NAME/stream asks for a WebSocket of the stream's protocol.
class Site {
public:
    /// Throws Error{internal} on a route that another one hides.
    void add(Route route);
    const std::vector<Route>& routes() const { return routes_; }

    struct Match {
        const Route* route = nullptr;  ///< none: `allowed` has the methods of the path, or is empty for 404
        std::map<std::string, std::string, std::less<>> parameters{};
        std::vector<Method> allowed{};
    };
    /// Of several routes the one whose pattern has braces latest. `query` is the request's.
    Match match(Method method, std::string_view path, const std::map<std::string, std::string, std::less<>>& query,
                bool websocket) const;

private:
    std::vector<Route> routes_;
};

}  // namespace framewire::net::http
