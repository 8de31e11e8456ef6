#include "framewire/net/server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/http_connections.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/sessions.hpp"
#include "framewire/net/tcp.hpp"
#include "framewire/net/tls.hpp"

#include <boost/asio.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace framewire::net {

namespace {

// Validates the stream name, which the constructor would otherwise check only after the port is open.
const ServerOptions& checked(const ServerOptions& options) {
    validate_stream_name(options.stream);
    return options;
}

}  // namespace

Server::Server(StreamState& state, const ServerOptions& options, std::stop_token stop)
    : listener_(checked(options), std::move(stop)), stream_(listener_.add(options.stream, state)) {}

bool Server::wait_for_viewers(int count, std::stop_token stop) const {
    return stream_.wait_for_viewers(count, std::move(stop));
}

bool Server::wait_for_first_states(int count, std::stop_token stop) const {
    return stream_.wait_for_first_states(count, std::move(stop));
}

int Server::finish(std::chrono::milliseconds deadline, const std::string& failure) {
    listener_.close("the stream has ended");
    return stream_.finish(deadline, failure);
}

namespace {

// Returns the options if they are valid, and throws Error{usage} otherwise.
ListenerOptions checked(ListenerOptions options) {
    if (options.viewers_limit < 1 || options.viewers_limit > 10'000)
        fail(ErrorCode::usage, "the viewer limit is {}; allowed: 1 to 10000", options.viewers_limit);
    validate_base_path(options.base_path);
    constexpr std::size_t most_ancestors = 50;
    if (options.frame_ancestors.size() > most_ancestors)
        fail(ErrorCode::usage, "{} sites may show pages in frames; allowed: up to {}", options.frame_ancestors.size(),
             most_ancestors);
    for (const auto& site : options.frame_ancestors) validate_frame_ancestor(site);
    if (!options.token.empty()) validate_token(options.token, "the server's options");
    for (const int limit : {options.greeting_limit, options.greeting_limit_per_peer})
        if (limit < 1 || limit > 10'000)
            fail(ErrorCode::usage, "the limit on pending connections is {}; allowed: 1 to 10000", limit);
    if (options.requests_limit < 1 || options.requests_limit > 10'000)
        fail(ErrorCode::usage, "the limit on HTTP requests is {}; allowed: 1 to 10000", options.requests_limit);
    for (const auto deadline : {options.lookup_deadline, options.handshake_deadline, options.write_deadline,
                                options.keep_alive, options.request_deadline, options.idle_deadline})
        if (deadline <= std::chrono::milliseconds(0) || deadline > std::chrono::hours(1))
            fail(ErrorCode::usage, "invalid server deadline of {} ms; allowed: 1 ms to 1 h", deadline.count());
    return options;
}

// Distributes the options over the parts of the server.
Sessions::Limits limits_of(const ListenerOptions& options) {
    return {.viewers = options.viewers_limit,
            .pending_connections = {options.greeting_limit, options.greeting_limit_per_peer, options.handshake_deadline,
                                    options.write_deadline, TrustedProxies(options.trusted_proxies)},
            .viewer_deadlines = {options.write_deadline, options.keep_alive},
            .pinned_bytes = options.pinned_limit_bytes};
}

http::HttpConnections::Limits http_limits_of(const ListenerOptions& options) {
    return {.waiting = options.greeting_limit,
            .waiting_per_peer = options.greeting_limit_per_peer,
            .under_way = options.requests_limit,
            .request_deadline = options.request_deadline,
            .idle_deadline = options.idle_deadline,
            .write_deadline = options.write_deadline};
}

http::Admission::Rules rules_of(const ListenerOptions& options) {
    http::Admission::Rules rules{options.tls.has_value(), options.allowed_hosts};
    rules.hosts.push_back(options.listen.host);
    return rules;
}

}  // namespace

// The allowed characters need no escapes in a URL, a header field or HTML.
void validate_base_path(std::string_view path) {
    constexpr std::size_t longest = 200;
    constexpr auto allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-' || c == '~';
    };
    bool is_right = path.size() <= longest;
    for (auto rest = path; is_right && !rest.empty();) {
        const auto part = rest.substr(1, std::min(rest.find('/', 1), rest.size()) - 1);
        is_right =
            rest.front() == '/' && !part.empty() && part != "." && part != ".." && std::ranges::all_of(part, allowed);
        rest.remove_prefix(1 + part.size());
    }
    if (!is_right)
        fail(ErrorCode::usage,
             "'{}' is not a valid base path; write it like /cams or /home/cams, with A-Z a-z 0-9 . _ ~ - and without a "
             "final /",
             path);
}

// A subset of CSP Level 3, section 2.3.1, in which nothing can end the directive or the header field.
void validate_frame_ancestor(std::string_view site) {
    constexpr std::size_t longest = 253;
    if (site == "self") return;
    auto host = site;
    for (const std::string_view scheme : {"http://", "https://"})
        if (site.starts_with(scheme)) host.remove_prefix(scheme.size());
    const bool has_scheme = host.size() < site.size();
    const auto colon = host.find(':');
    const auto port =
        colon == host.npos ? std::optional<std::uint16_t>(1) : number_in<std::uint16_t>(host.substr(colon + 1));
    host = host.substr(0, colon);
    bool is_host = !host.empty() && host.size() <= longest;
    if (host.starts_with("*.")) host.remove_prefix(2);
    for (std::size_t begin = 0; is_host && begin <= host.size();) {
        const auto label = host.substr(begin, std::min(host.find('.', begin), host.size()) - begin);
        is_host = !label.empty() && std::ranges::all_of(label, [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
        begin += label.size() + 1;
    }
    if (!has_scheme || !is_host || !port || *port == 0)
        fail(ErrorCode::usage,
             "{} is not a site; allowed: self, or http:// or https:// with a host name or IPv4 address and optionally "
             "a port, without a path, such as http://dashboard.local:8123 or https://*.example.com",
             in_quotes(site));
}

// Order matters: the loop outlives what runs on it, and TLS, sessions and http_connections use the loop.
struct Listener::State {
    State(ListenerOptions options_, std::stop_token stop)
        : options(checked(std::move(options_))),
          acceptor(loop.context(), options.listen, options.lookup, Clock::now() + options.lookup_deadline,
                   std::move(stop)),
          timer(loop.context()),
          sessions(limits_of(options), loop, options.token,
                   [this](ConnectionPointer connection, ByteSpan heard) {
                       http_connections.come(std::move(connection), heard);
                   }),
          http_connections(http_limits_of(options),
                           {options.base_path, TrustedProxies(options.trusted_proxies), options.frame_ancestors}, loop,
                           http::Admission(rules_of(options), sessions.gate()),
                           [this](ConnectionPointer connection, std::string name) {
                               sessions.come(std::move(connection), std::move(name));
                           }) {
        // Checked after the acceptor resolved `listen`, because a name may resolve to a public address.
        if (!acceptor.loopback() && options.token.empty() && !options.open)
            fail(ErrorCode::usage, "listening on {}, which other machines can reach, requires a token",
                 to_string(options.listen));
        if (options.tls) tls.emplace(*options.tls, [this](std::function<void()> task) { loop.post(std::move(task)); });
        acceptor.start([this](ConnectionPointer connection) { take(std::move(connection)); });
        tick();
        loop.start(
            [this](const std::string& what) { trouble.line("serving {}: {}", to_string(acceptor.address()), what); });
    }
    ~State() {
        http_connections.stop_handlers();
        loop.stop();
    }

    // Passes on a new connection, over TLS if the server has an identity. The TLS listener returns null if there were
    // too many handshakes.
    void take(ConnectionPointer connection) {
        const bool is_proxy = tls && proxies.trusts(*connection);
        if (tls) connection = tls->over(std::move(connection), loop.now(), is_proxy);
        if (connection) sessions.come(std::move(connection));
    }

    // Checks deadlines four times per keep-alive interval, and reports how many log lines were suppressed.
    void tick() {
        timer.expires_after(std::max(std::chrono::milliseconds(1), options.keep_alive / 4));
        timer.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            tick();
            sessions.check_deadlines();
            http_connections.check_deadlines();
            acceptor.tell_left_out(Clock::now());
            if (tls) tls->tell_left_out(Clock::now());
            trouble.tell_left_out(Clock::now());
        });
    }

    // Runs `call` on the loop's thread and returns its result or rethrows its exception. The caller waits for `done`,
    // not for the task's own future: the task is destroyed when this function returns, so the loop must have left it
    // before.
    template <class Call>
    decltype(auto) in_loop(Call call) {
        std::packaged_task<std::invoke_result_t<Call>()> task(std::move(call));
        const auto done = std::make_shared<std::promise<void>>();
        loop.post([&task, done] {
            task();
            done->set_value();
        });
        done->get_future().wait();
        return task.get_future().get();
    }

    const ListenerOptions options;
    IoLoop loop;
    Acceptor acceptor;
    boost::asio::steady_timer timer;
    LimitedLog trouble{LogLevel::error, "problems while serving"};
    std::optional<TlsListener> tls;
    const TrustedProxies proxies{options.trusted_proxies};
    Sessions sessions;
    http::HttpConnections http_connections;
};

// A stream of a listener. The listener's state outlives it.
struct ServedStream::State {
    // Blocks until the loop has dropped the stream's last viewer, so the caller may destroy the StreamState.
    ~State() {
        const auto removed = std::make_shared<std::promise<void>>();
        listener.loop.post([this, removed] { listener.sessions.remove(stream, [removed] { removed->set_value(); }); });
        removed->get_future().wait();
    }

    Listener::State& listener;
    Stream& stream;
    StreamAddress address;
};

Listener::Listener(ListenerOptions options, std::stop_token stop)
    : state_(std::make_unique<State>(std::move(options), std::move(stop))) {}
Listener::~Listener() = default;

const Address& Listener::address() const { return state_->acceptor.address(); }

ServedStream Listener::add(const std::string& name, StreamState& state, Control control) {
    auto& stream = state_->in_loop([&]() -> Stream& { return state_->sessions.add(name, state, std::move(control)); });
    return ServedStream(std::unique_ptr<ServedStream::State>(
        new ServedStream::State{*state_, stream, {address(), name, state_->options.tls ? Scheme::tls : Scheme::tcp}}));
}

void Listener::close(const std::string& why) {
    state_->in_loop([&] {
        state_->acceptor.close();
        state_->sessions.turn_away({Refusal::no_such_stream, why});
        state_->http_connections.turn_away();
    });
}

void Listener::set_site(std::shared_ptr<const http::Site> site) { state_->http_connections.set_site(std::move(site)); }

ServerMetrics Listener::metrics() const { return state_->sessions.metrics(); }

ServedStream::ServedStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServedStream::~ServedStream() = default;
ServedStream::ServedStream(ServedStream&&) noexcept = default;
ServedStream& ServedStream::operator=(ServedStream&&) noexcept = default;

const StreamAddress& ServedStream::address() const { return state_->address; }

void ServedStream::publish() { state_->listener.sessions.publish(state_->stream); }

bool ServedStream::wait_for_viewers(int count, std::stop_token stop) const {
    return state_->listener.sessions.wait_for_viewers(state_->stream, count, std::move(stop));
}

bool ServedStream::wait_for_first_states(int count, std::stop_token stop) const {
    return state_->listener.sessions.wait_for_first_states(state_->stream, count, std::move(stop));
}

// The end is sent on the loop's thread; this thread waits for the viewers and then closes the remaining connections.
int ServedStream::finish(std::chrono::milliseconds deadline, const std::string& failure) {
    auto& listener = state_->listener;
    auto& stream = state_->stream;
    listener.in_loop([&] { listener.sessions.end(stream, failure); });
    listener.sessions.wait_for_the_end(stream, deadline);
    return listener.in_loop([&] { return listener.sessions.cut_off(stream); });
}

StreamMetrics ServedStream::metrics() const { return state_->listener.sessions.metrics(state_->stream); }

}  // namespace framewire::net
