// HTTP connections: what happens to a complete request. The checks run in this order: Host, path, token, route, access.
// Handlers run on worker threads, and their responses are posted back to the loop.

#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/paths.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/transport/prefixed_connection.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace framewire::net::http {

namespace {

using Phase = Visitor::Phase;

// Path suffix of a stream's WebSocket.
constexpr std::string_view stream_ending = "/stream";
// A token message is shorter: 255 bytes and the JSON around them.
constexpr std::size_t first_message_most_bytes = 1024;
constexpr const char* too_many_requests = "too many requests are under way";

std::optional<Method> method_of(std::string_view text) {
    if (text == "GET") return Method::get;
    if (text == "HEAD") return Method::head;
    if (text == "PUT") return Method::put;
    if (text == "POST") return Method::post;
    return std::nullopt;
}

std::string_view name_of(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::head: return "HEAD";
        case Method::put: return "PUT";
        case Method::post: return "POST";
    }
    return "";
}

// Maps framewire's error codes to HTTP statuses.
int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage: return 400;
        case ErrorCode::no_input: return 404;
        case ErrorCode::config: return 409;
        default: return 500;
    }
}

// Turns an exception of a handler into a response. Paths of server files and internal errors are not shown to clients;
// `hidden` receives the full text for the log.
Response failure_response(const std::exception& failure, std::string& hidden) {
    const std::string whole = failure.what();
    const auto* error = dynamic_cast<const Error*>(&failure);
    if (!error || error->code() == ErrorCode::internal) {
        hidden = whole;
        return error_response(500, "that failed; the server's log says why");
    }
    auto text = without_paths(whole);
    if (text != whole || status_of(error->code()) == 500) hidden = whole;
    return error_response(status_of(error->code()), text);
}

// Returns NAME for "/NAME/stream", and an empty string for other paths.
std::string stream_of(std::string_view path) {
    if (!path.ends_with(stream_ending)) return {};
    const auto name = path.substr(1, path.size() - 1 - stream_ending.size());
    return is_stream_name(name) ? std::string(name) : std::string();
}

// Returns the token in a message {"token":"..."}, or nullopt if the message has another form. Tokens contain no
// character that JSON must escape.
std::optional<std::string> token_in(std::string_view message) {
    std::string words;
    bool quoted = false;
    for (const char c : message) {
        if (c == '"') quoted = !quoted;
        if (quoted || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) words += c;
    }
    constexpr std::string_view front = R"({"token":")", back = R"("})";
    if (words.size() < front.size() + back.size() || !words.starts_with(front) || !words.ends_with(back))
        return std::nullopt;
    return words.substr(front.size(), words.size() - front.size() - back.size());
}

}  // namespace

// Checks a complete request and answers it, or starts its handler. Refusals become responses.
void Visitors::handle(const VisitorPointer& visitor) {
    auto& it = *visitor;
    it.raw = it.reader.request();
    it.head_only = it.raw.method == "HEAD";
    it.keep_alive =
        it.raw.version_1_1 ? !it.raw.lists("connection", "close") : it.raw.lists("connection", "keep-alive");
    identify(it);
    enter(it, Phase::handled);
    const bool has_room = make_room(it, false);
    try {
        admission_.check_host(it.raw);
        it.target = parse_target(it.raw.target);
        if (redirect_to_base_path(visitor)) return;
        it.let_in = admission_.let_in(it.raw, it.peer, loop_.now());
        const bool upgrades = it.raw.lists("connection", "upgrade") && it.raw.count("upgrade") > 0;
        if (upgrades && !has_room) throw Refused{503, too_many_requests};
        if (upgrades) return handle_upgrade(visitor);
        const auto site = handlers_.site();
        if (!site) throw Refused{503, "nothing is answered here"};
        if (!stream_of(it.target.path).empty()) throw Refused{426, "a stream is asked for as a WebSocket"};
        const auto method = method_of(it.raw.method);
        auto match = site->match(method.value_or(Method::get), it.target.path, it.target.query, false);
        if (match.allowed.empty()) throw Refused{404, "there is nothing here"};
        if (!method || !match.route) {
            auto response = error_response(405, it.raw.method + " is not allowed here");
            std::string allowed;
            for (const auto one : match.allowed) allowed.append(allowed.empty() ? "" : ", ").append(name_of(one));
            response.headers.emplace_back("Allow", allowed);
            return answer(visitor, response);
        }
        admission_.check_access(it.raw, *match.route, it.let_in);
        if (!has_room && !match.route->at_once) throw Refused{503, too_many_requests};
        run_route(visitor, site, *match.route, std::move(match.parameters));
    } catch (const Refused& why) {
        refuse(visitor, why, false);
    } catch (const std::exception& error) {
        trouble(it, error.what());
        close(visitor);
    }
}

// Takes the client's name and peer from X-Forwarded-For if the connection comes from a trusted proxy.
void Visitors::identify(Visitor& visitor) const {
    if (!visitor.is_proxy) return;
    std::vector<std::string_view> forwarded_for;
    for (const auto& [name, value] : visitor.raw.fields)
        if (name == "x-forwarded-for") forwarded_for.push_back(value);
    const auto client = front_.proxies.client_of(forwarded_for);
    const auto& own = *visitor.connection;
    visitor.name = client ? fmt::format("{} through {}", client->address, own.name()) : own.name();
    visitor.peer = client ? client->peer : own.peer();
}

// Removes the base path: "/cams/door" becomes "/door". "/cams" is redirected to "/cams/", because the page uses
// relative URLs.
bool Visitors::redirect_to_base_path(const VisitorPointer& visitor) {
    auto& path = visitor->target.path;
    const auto& base = front_.base_path;
    if (base.empty() || !path.starts_with(base)) return false;
    if (path.size() > base.size()) {
        if (path[base.size()] == '/') path.erase(0, base.size());
        return false;
    }
    Response response{.status = 308};
    const auto& target = visitor->raw.target;
    response.headers.emplace_back(
        "Location", base.substr(base.rfind('/') + 1) + "/" + target.substr(std::min(target.find('?'), target.size())));
    answer(visitor, response);
    return true;
}

// Runs the handler. Its thread only holds weak references, so the connection may end meanwhile.
void Visitors::run_route(const VisitorPointer& visitor, const std::shared_ptr<const Site>& site, const Route& route,
                         std::map<std::string, std::string, std::less<>> parameters) {
    Request request{.method = method_of(visitor->raw.method).value_or(Method::get),
                    .path = visitor->target.path,
                    .parameters = std::move(parameters),
                    .query = visitor->target.query,
                    .body = std::move(visitor->raw.body),
                    .if_none_match = std::string(visitor->raw.field("if-none-match").value_or("")),
                    .peer = visitor->name,
                    .let_in = visitor->let_in};
    const auto task = [weak = std::weak_ptr(visitor), self = std::weak_ptr(self_), &loop = loop_, &route,
                       request = std::move(request)](bool may_use_site) {
        auto response = std::make_shared<Response>(error_response(503, "nothing is answered here any more"));
        std::string hidden;
        try {
            if (may_use_site) *response = route.handler(request);
        } catch (const std::exception& error) {
            *response = failure_response(error, hidden);
        }
        loop.post([weak, self, response, hidden] {
            const auto held = self.lock();
            const auto waiting = weak.lock();
            if (held && waiting && !hidden.empty()) (*held)->trouble(*waiting, hidden);
            if (held && waiting && waiting->phase == Phase::handled) (*held)->take_response(waiting, *response);
        });
    };
    if (route.at_once ? !handlers_.run_here(site, task) : !handlers_.run(site, visitor->peer, task))
        throw Refused{503, too_many_requests};
}

// Sends the response of a handler, or starts the feed on a WebSocket.
void Visitors::take_response(const VisitorPointer& visitor, const Response& response) {
    try {
        if (!visitor->socket) return answer(visitor, response);
        if (response.feed && !make_room(*visitor, true)) throw Refused{503, "too many streams and feeds are under way"};
        if (response.feed) return begin_feed(visitor, response.feed);
        refusals_.line_of(visitor->peer, "{} refused: its WebSocket has no feed, but an answer {}", visitor->name,
                          response.status);
    } catch (const Refused& why) {
        if (!visitor->socket) return refuse(visitor, why, false);
        refusals_.line_of(visitor->peer, "{} refused: {}", visitor->name, why.text);
    } catch (const std::exception& error) {
        trouble(*visitor, error.what());
    }
    close(visitor);
}

// --- WebSockets ---

// Checks an upgrade request (RFC 6455, 4.2.1). Streams go to the stream protocol, other paths to routes with a feed.
void Visitors::handle_upgrade(const VisitorPointer& visitor) {
    auto& it = *visitor;
    if (it.raw.method != "GET" || !it.raw.version_1_1 || !it.raw.lists("upgrade", "websocket"))
        throw Refused{400, "nothing but GET in HTTP/1.1 becomes a WebSocket"};
    constexpr std::size_t key_length = 24;  // Base64 of 16 bytes (RFC 6455, 4.1)
    if (it.raw.field("sec-websocket-version") != "13" ||
        it.raw.field("sec-websocket-key").value_or("").size() != key_length)
        throw Refused{400, "a WebSocket of version 13 with its key is needed"};
    admission_.check_origin(it.raw);
    if (auto name = stream_of(it.target.path); !name.empty()) {
        if (!it.raw.lists("sec-websocket-protocol", WebSocketConnection::stream_protocol))
            throw Refused{400, "a stream's WebSocket speaks the protocol framewire"};
        // Access is checked by the viewer's hello.
        return upgrade(visitor, false, [this, name](const VisitorPointer& open) {
            auto connection = std::move(open->connection);
            close(open);
            take_viewer_(std::move(connection), name);
        });
    }
    const auto site = handlers_.site();
    if (!site) throw Refused{503, "nothing is answered here"};
    auto match = site->match(Method::get, it.target.path, it.target.query, true);
    if (!match.route) throw Refused{404, "there is no WebSocket here"};
    admission_.check_access(it.raw, *match.route, it.let_in);
    const bool proven = it.let_in || match.route->access == Access::everybody;
    upgrade(visitor, true,
            [this, site, route = match.route, parameters = std::move(match.parameters),
             proven](const VisitorPointer& open) {
                open->after_proof = [this, site, route, parameters](const VisitorPointer& let_in) {
                    enter(*let_in, Phase::handled);
                    run_route(let_in, site, *route, parameters);
                };
                if (proven) return take_proof(open);
                enter(*open, Phase::proving);
                read_on(*open);
            });
}

// Performs the WebSocket handshake (RFC 6455, 4.2) and calls `done` on success. Bytes that followed the request belong
// to the WebSocket.
void Visitors::upgrade(const VisitorPointer& visitor, bool text, std::function<void(const VisitorPointer&)> done) {
    enter(*visitor, Phase::upgrading);
    auto carrier = with_bytes_before(visitor->reader.rest(), std::move(visitor->connection), loop_);
    auto socket = std::make_unique<WebSocketConnection>(
        std::move(carrier), WebSocketConnection::Options{
                                .post = [&loop = loop_](std::function<void()> task) { loop.post(std::move(task)); },
                                .text = text,
                                .protocol = text ? std::string() : std::string(WebSocketConnection::stream_protocol),
                                .name = visitor->name,
                                .peer = visitor->peer});
    visitor->socket = socket.get();
    visitor->connection = std::move(socket);
    visitor->socket->accept(visitor->raw.fields,
                            [this, &it = *visitor, done = std::move(done)](const std::error_code& error, std::size_t) {
                                const auto held = it.shared_from_this();
                                if (error) return close(held);
                                done(held);
                            });
}

// Continues after access to the WebSocket was granted.
void Visitors::take_proof(const VisitorPointer& visitor) {
    try {
        std::exchange(visitor->after_proof, nullptr)(visitor);
    } catch (const Refused& why) {
        refusals_.line_of(visitor->peer, "{} refused: {}", visitor->name, why.text);
        close(visitor);
    }
}

// Collects the first message, which must contain the token.
void Visitors::take_first_message(const VisitorPointer& visitor, std::size_t bytes) {
    visitor->said.append(visitor->piece.begin(), visitor->piece.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (visitor->said.size() > first_message_most_bytes) return close(visitor);
    if (!visitor->socket->message_ended()) return read_on(*visitor);
    const auto token = token_in(std::exchange(visitor->said, {}));
    if (!token || !admission_.let_in(*token, visitor->peer, loop_.now())) {
        refusals_.line_of(visitor->peer, "{} refused: its WebSocket's first message has not the right token",
                          visitor->name);
        return leave(visitor);
    }
    visitor->let_in = true;
    take_proof(visitor);
}

}  // namespace framewire::net::http
