#include "framewire/net/http_connections.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/transport.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

namespace {

// Maximum number of worker threads, which are started on demand.
constexpr std::size_t most_threads = 4;

}  // namespace

Handlers::~Handlers() { stop(); }

std::shared_ptr<const Site> Handlers::site() const {
    const std::lock_guard lock(mutex_);
    return site_;
}

// Tasks of the previous site are dropped, but each is still called with false so that its request is answered.
void Handlers::set_site(std::shared_ptr<const Site> site) {
    std::map<std::string, std::deque<Job>> dropped;
    {
        std::unique_lock lock(mutex_);
        std::swap(site_, site);
        std::swap(waiting_, dropped);
        turns_.clear();
        changed_.wait(lock, [&] { return std::ranges::find(running_, site.get()) == running_.end(); });
    }
    for (const auto& [peer, jobs] : dropped)
        for (const auto& job : jobs) job.task(false);
}

// Each peer has a queue; `turns_` holds each peer with a non-empty queue once (round robin).
bool Handlers::run(const std::shared_ptr<const Site>& site, const std::string& peer, Task task) {
    const std::lock_guard lock(mutex_);
    if (stopped_ || site != site_) return false;
    auto& jobs = waiting_[peer];
    if (jobs.empty()) turns_.push_back(peer);
    jobs.push_back({site, std::move(task)});
    if (threads_.size() < most_threads) threads_.emplace_back([this] { work(); });
    changed_.notify_all();
    return true;
}

bool Handlers::run_here(const std::shared_ptr<const Site>& site, const Task& task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || site != site_) return false;
        running_.push_back(site.get());
    }
    task(true);
    const std::lock_guard lock(mutex_);
    running_.erase(std::ranges::find(running_, site.get()));
    changed_.notify_all();
    return true;
}

// Takes one task of the peer whose turn it is, and moves the peer to the end if it has more.
Handlers::Job Handlers::take_next() {
    const auto found = waiting_.find(turns_.front());
    turns_.pop_front();
    auto job = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty())
        waiting_.erase(found);
    else
        turns_.push_back(found->first);
    return job;
}

// Runs tasks on a worker thread until stop().
void Handlers::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) return;
        auto job = take_next();
        const auto* site = job.site.get();
        running_.push_back(site);
        lock.unlock();
        job.task(true);
        // Releases the task and the site before the lock is taken again.
        job = {};
        lock.lock();
        running_.erase(std::ranges::find(running_, site));
        changed_.notify_all();
    }
}

// The threads are joined without the lock, because they need it to end.
void Handlers::stop() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        std::swap(threads, threads_);
        waiting_.clear();
        turns_.clear();
        changed_.notify_all();
    }
    for (auto& thread : threads) thread.join();
}

namespace {

struct Field {
    std::string_view name, value;
};
constexpr Field every_answers[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
};

// Pages run no inline scripts or styles, load nothing from other origins, and only these sites may frame them.
std::string security_policy(std::span<const std::string> frame_ancestors) {
    std::string ancestors = frame_ancestors.empty() ? " 'none'" : "";
    for (const auto& site : frame_ancestors) ancestors += site == "self" ? " 'self'" : " " + site;
    return "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
           "img-src 'self' blob: data:; media-src 'self'; connect-src 'self'; manifest-src 'self'; frame-ancestors" +
           ancestors + "; base-uri 'none'; form-action 'none'";
}

// Returns the value of X-Frame-Options (RFC 7034) that agrees with the policy, or an empty text: it cannot name sites.
std::string_view frame_options(std::span<const std::string> frame_ancestors) {
    if (frame_ancestors.empty()) return "DENY";
    return std::ranges::all_of(frame_ancestors, [](const auto& site) { return site == "self"; }) ? "SAMEORIGIN" : "";
}

// Returns the reason phrase of a status (RFC 9110, 15).
std::string_view reason_of(int status) {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 204: return "No Content";
        case 304: return "Not Modified";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 413: return "Payload Too Large";
        case 415: return "Unsupported Media Type";
        case 421: return "Misdirected Request";
        case 426: return "Upgrade Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 503: return "Service Unavailable";
        default: return status < 400 ? "Done" : "Failed";
    }
}

// Compares field names, which are case-insensitive (RFC 9110, 5.1).
bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Appends a field. Throws if it contains a line break, which would allow response splitting.
void add(std::string& text, std::string_view name, std::string_view value) {
    if (name.empty() ||
        (std::string(name) + std::string(value)).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
        fail(ErrorCode::internal, "a response has an invalid header field");
    text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string common_fields(const Response& response, std::span<const std::string> frame_ancestors) {
    std::string text;
    const auto add_common = [&](std::string_view name, std::string_view value) {
        if (std::ranges::none_of(response.headers, [&](const auto& own) { return same_name(own.first, name); }))
            add(text, name, value);
    };
    for (const auto& field : every_answers) add_common(field.name, field.value);
    add_common("Content-Security-Policy", security_policy(frame_ancestors));
    if (const auto value = frame_options(frame_ancestors); !value.empty()) add_common("X-Frame-Options", value);
    return text;
}

std::string header_text(const Response& response, BodyForm form, bool keep_alive,
                        std::span<const std::string> frame_ancestors) {
    auto text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
    text += common_fields(response, frame_ancestors);
    for (const auto& [name, value] : response.headers) add(text, name, value);
    const bool empty = response.status == 204 || response.status == 304;
    if (!empty) add(text, "Content-Type", response.content_type);
    if (form == BodyForm::whole && !empty)
        add(text, "Content-Length", std::to_string(response.body ? response.body->size() : 0));
    if (form == BodyForm::chunked) add(text, "Transfer-Encoding", "chunked");
    add(text, "Connection", keep_alive ? "keep-alive" : "close");
    return text + "\r\n";
}

}  // namespace framewire::net::http

// HTTP connections: accepting, reading requests, limits and deadlines. The phases of a connection:
//
//   waiting -> handled -> answering -> waiting      keep-alive
//                         answering -> leaving      last response
//              handled -> feeding -> leaving        streamed response
//              upgrading -> (viewer)                WebSocket of a stream
//              upgrading -> handled -> feeding      WebSocket of a route
//              upgrading -> proving -> handled      the same, with the token in its first message
//
// Every phase can end in `gone`.

namespace framewire::net::http {

namespace {

using Phase = HttpConnection::Phase;

// Maximum number of bytes that are read and discarded from a peer that should not send any. Closing with unread bytes
// would reset the connection, and the peer could lose the response.
constexpr std::size_t discarded_most_bytes = 64 * 1024;
// A WebSocket that was sent nothing for this long gets a ping. A peer that is gone does not accept it, so the write
// deadline ends the connection.
constexpr std::chrono::seconds ping_after{10};

// Returns true if a request or response is in progress, so that the connection does not count as waiting.
bool is_under_way(Phase phase) { return phase != Phase::waiting && phase != Phase::leaving && phase != Phase::gone; }

}  // namespace

HttpConnections::HttpConnections(const Limits& limits, Front front, Loop& loop, Admission admission,
                                 TakeViewer take_viewer)
    : limits_(limits),
      front_(std::move(front)),
      loop_(loop),
      admission_(std::move(admission)),
      take_viewer_(std::move(take_viewer)),
      pending_limiter_(limits.waiting, limits.waiting_per_peer),
      leaving_(std::max(1, limits.waiting / 2), std::max(1, limits.waiting_per_peer / 2)),
      self_(std::make_shared<HttpConnections*>(this)) {}

// The bytes already read may contain a complete request.
void HttpConnections::come(ConnectionPointer connection, ByteSpan heard) {
    if (closed_) return;
    const auto http = std::make_shared<HttpConnection>(++come_so_far_, std::move(connection), loop_.now());
    http->is_proxy = front_.proxies.trusts(*http->connection);
    connections_.emplace(http->number, http);
    admit(http);
    if (http->phase == Phase::waiting) take_request_bytes(http, heard);
}

// Every waiting connection occupies a place. If all are taken, the oldest connection of the peer that holds the most is
// closed. A trusted proxy holds connections for many clients, so each of them counts as a separate peer.
void HttpConnections::admit(const HttpConnectionPointer& http) {
    give_up(pending_limiter_.enter(http->number, pending_name(http->number, http->connection->peer(), http->is_proxy)),
            "pending");
}

// Closes the connection that the limiter evicted.
void HttpConnections::give_up(const std::optional<HandshakeLimiter::Eviction>& eviction, std::string_view what) {
    if (!eviction) return;
    if (const auto loser = connections_.find(eviction->connection); loser != connections_.end()) {
        refusals_.line_of(loser->second->peer, "{} disconnected: too many {} HTTP connections", loser->second->name,
                          what);
        close(HttpConnectionPointer(loser->second));
    }
}

// Makes room for one more request or feed if all places are taken: the peer that holds the most loses the connection
// whose client has made no progress for the longest time. Requests whose handler runs are kept, because ending them
// would free nothing. Returns false if there is no room, or if the newcomer's peer keeps too many handlers busy. A feed
// displaces another one only if the losing peer keeps at least as many feeds as the newcomer's peer then has.
bool HttpConnections::make_room(const HttpConnection& newcomer, bool feeds) {
    const int most_feeds = std::max(1, limits_.under_way * 3 / 4);
    const int most_of_a_peer = limits_.under_way - limits_.under_way / 4;
    if (!feeds && under_way_ > most_of_a_peer && std::ranges::count_if(connections_, [&](const auto& entry) {
                                                     return entry.second->phase == Phase::handled &&
                                                            entry.second->peer == newcomer.peer;
                                                 }) > most_of_a_peer)
        return false;
    if (feeds ? feeds_ < most_feeds : under_way_ <= limits_.under_way) return true;
    std::map<std::string_view, int> counts;
    const auto gives_up = [feeds](Phase phase) {
        return feeds ? phase == Phase::feeding
                     : phase == Phase::answering || phase == Phase::upgrading || phase == Phase::proving;
    };
    for (const auto& [number, http] : connections_)
        if (http.get() != &newcomer && gives_up(http->phase)) ++counts[http->peer];
    HttpConnectionPointer loser;
    for (const auto& [number, http] : connections_) {
        if (http.get() == &newcomer || !gives_up(http->phase)) continue;
        const auto rank = [&](const HttpConnection& one) { return std::pair(-counts[one.peer], one.progress); };
        if (!loser || rank(*http) < rank(*loser)) loser = http;
    }
    if (!loser || (feeds && counts[loser->peer] <= counts[newcomer.peer] + 1)) return false;
    refusals_.line_of(loser->peer, "{} disconnected: too many {} are in progress, most of them from its address",
                      loser->name, feeds ? "feeds" : "requests");
    close(loser);
    return true;
}

// Changes the phase and updates all counters that depend on it.
void HttpConnections::enter(HttpConnection& http, Phase phase) {
    under_way_ += is_under_way(phase) - is_under_way(http.phase);
    feeds_ += (phase == Phase::feeding) - (http.phase == Phase::feeding);
    if (phase != Phase::waiting) pending_limiter_.leave(http.number);
    if (phase != Phase::leaving) leaving_.leave(http.number);
    http.phase = phase;
    http.since = http.progress = loop_.now();
}

// `connection` is null if it was handed over to the stream protocol.
void HttpConnections::close(const HttpConnectionPointer& http) {
    if (http->phase == Phase::gone) return;
    enter(*http, Phase::gone);
    http->feed.reset();
    if (http->connection) http->connection->close();
    connections_.erase(http->number);
}

// --- reading ---

// A pipelined next request may be complete already. It is taken in a posted task, not recursively, because there may be
// many.
void HttpConnections::await_request(const HttpConnectionPointer& http) {
    enter(*http, Phase::waiting);
    if (closed_) return close(http);
    admit(http);
    loop_.post([self = std::weak_ptr(self_), weak = std::weak_ptr(http)] {
        const auto held = self.lock();
        const auto waiting = weak.lock();
        if (!held || !waiting || waiting->phase != Phase::waiting) return;
        waiting->reads_ahead = false;
        (*held)->take_request_bytes(waiting, std::exchange(waiting->ahead, {}));
    });
}

// One read is pending at a time. The callback may outlive the phase in which the read was started.
void HttpConnections::read_on(HttpConnection& http) {
    if (http.reading || http.phase == Phase::gone) return;
    http.reading = true;
    http.connection->read_some(http.piece, [this, &http](const std::error_code& error, std::size_t bytes) {
        const auto held = http.shared_from_this();
        http.reading = false;
        if (error || bytes == 0)
            close(held);
        else
            take_piece(held, bytes);
    });
}

// Bytes are used only while a request or a token is expected, kept while a response is deferred, and discarded in all
// other phases.
void HttpConnections::take_piece(const HttpConnectionPointer& http, std::size_t bytes) {
    const bool is_expected = http->phase == Phase::waiting || http->phase == Phase::proving;
    if (http->reads_ahead && http->keep_alive && !is_expected) {
        const auto piece = ByteSpan(http->piece).first(bytes);
        http->ahead.assign(piece.begin(), piece.end());
        return;
    }
    switch (http->phase) {
        case Phase::waiting: take_request_bytes(http, ByteSpan(http->piece).first(bytes)); break;
        case Phase::proving: take_first_message(http, bytes); break;
        default: discard(http, bytes);
    }
}

// Also called without bytes, to process those that an earlier read left in the reader.
void HttpConnections::take_request_bytes(const HttpConnectionPointer& http, ByteSpan bytes) {
    try {
        const bool begins = !http->reader.begun();
        if (http->reader.take(bytes)) return handle(http);
        if (begins && http->reader.begun()) http->since = loop_.now();
        read_on(*http);
    } catch (const Refused& why) {
        refuse(http, why, true);
    }
}

// Bytes received during or after a response are ignored, up to a limit.
void HttpConnections::discard(const HttpConnectionPointer& http, std::size_t bytes) {
    http->discarded_bytes += bytes;
    if (http->discarded_bytes > discarded_most_bytes)
        close(http);
    else
        read_on(*http);
}

// --- deadlines ---

void HttpConnections::turn_away() {
    closed_ = true;
    const auto all = connections_;
    for (const auto& [number, http] : all)
        if (http->phase == Phase::waiting) close(http);
}

void HttpConnections::check_deadlines() {
    const auto now = loop_.now();
    const auto all = connections_;  // a copy, because check_deadline() may erase connections
    for (const auto& [number, http] : all) check_deadline(http, now);
    for (auto* log : {&refusals_, &trouble_}) log->tell_left_out(now);
}

// Deadlines by phase: request_deadline for a request or a token, idle_deadline between requests, write_deadline for
// output.
void HttpConnections::check_deadline(const HttpConnectionPointer& http, Clock::time_point now) {
    const auto age = now - http->since;
    const auto silence = now - http->progress;
    switch (http->phase) {
        case Phase::waiting:
            if (http->reader.begun() && age >= limits_.request_deadline)
                refuse(http, {408, fmt::format("no complete request within {} ms", limits_.request_deadline.count())},
                       true);
            else if (age >= limits_.idle_deadline)
                close(http);
            break;
        case Phase::upgrading:
        case Phase::proving:
            if (age >= limits_.request_deadline) close(http);
            break;
        case Phase::answering:
        case Phase::leaving:
            if (silence >= limits_.write_deadline) close(http);
            break;
        case Phase::feeding:
            if (http->writing && silence >= limits_.write_deadline)
                close(http);
            else if (http->socket && !http->writing && silence >= ping_after)
                http->socket->ping(), http->progress = now;
            break;
        // Handlers have no deadline.
        case Phase::handled:
        case Phase::gone: break;
    }
}

}  // namespace framewire::net::http

// HTTP connections: responses and feeds. A response is written in one operation from its header and its body, which may
// be shared with other connections. A feed writes all pending parts at once and continues when they have been taken.

namespace framewire::net::http {

namespace {

using Phase = HttpConnection::Phase;

ByteSpan bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Returns a hint for the log if the peer may be a proxy that is not configured as trusted. All clients of such a proxy
// count as one peer and share one limit.
std::string_view advice_on(const HttpConnection& http, const Refused& why) {
    const bool is_locked_out = why.status == 429 && !http.is_proxy && http.raw.count("x-forwarded-for") > 0;
    return is_locked_out ? "; if it is your reverse proxy, serve with --trusted-proxy ADDRESS" : "";
}

}  // namespace

// Sends a refusal. If `last` is true, closes the connection afterwards.
void HttpConnections::refuse(const HttpConnectionPointer& http, const Refused& why, bool last) {
    refusals_.line_of(http->peer, "{} refused: {}{}", http->name, why.text, advice_on(*http, why));
    auto response = error_response(why.status, why.text);
    if (why.status == 401) {
        response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="framewire")");
        // Basic makes a browser open its login dialog, so it is not offered to requests from scripts.
        if (http->raw.field("sec-fetch-dest") != "empty")
            response.headers.emplace_back("WWW-Authenticate", R"(Basic realm="framewire")");
    }
    if (why.status == 426) response.headers.emplace_back("Upgrade", "websocket");
    // The request may not have been read completely, so the connection cannot be used again.
    if (last) http->raw = {}, http->head_only = http->keep_alive = false;
    try {
        answer(http, response);
    } catch (const std::exception& error) {
        trouble(*http, error.what());
        close(http);
    }
}

void HttpConnections::trouble(const HttpConnection& http, std::string_view what) {
    trouble_.line("{}: {}", http.name, what);
}

// Sends a response or starts a feed. Throws Refused if there is no room for another feed.
void HttpConnections::answer(const HttpConnectionPointer& http, const Response& response) {
    auto& it = *http;
    const bool feeds = response.feed && !it.head_only;
    if (feeds && !make_room(it, true)) throw Refused{503, "too many streams and feeds are open"};
    if (feeds && response.feed->is_deferred()) {
        it.deferred = response;
        it.reads_ahead = true;
        return begin_feed(http, response.feed);
    }
    it.chunked = feeds && it.raw.version_1_1;
    if (feeds) it.keep_alive = false;  // bytes read during the feed are discarded
    // HTTP/1.0 has no chunks: the body ends with the connection.
    const auto form = !response.feed ? BodyForm::whole : it.raw.version_1_1 ? BodyForm::chunked : BodyForm::to_the_end;
    it.head = header_text(response, form, it.keep_alive, front_.frame_ancestors);
    it.body = it.head_only || response.status == 204 || response.status == 304 ? nullptr : response.body;
    enter(it, Phase::answering);
    if (feeds) return begin_feed(http, response.feed);
    const std::array pieces{bytes_of(it.head), it.body ? bytes_of(*it.body) : ByteSpan()};
    write(http, pieces, &HttpConnections::answered);
}

// The list of pieces may be temporary; the bytes that it refers to must stay valid until `done`.
void HttpConnections::write(const HttpConnectionPointer& http, std::span<const std::span<const std::uint8_t>> pieces,
                            void (HttpConnections::*done)(const HttpConnectionPointer&, const std::error_code&)) {
    auto& it = *http;
    it.writing = true;
    it.taken_bytes = 0;
    it.progress = loop_.now();
    it.connection->write(
        pieces,
        [this, &it](std::size_t bytes) {
            if (bytes > it.taken_bytes) it.progress = loop_.now();
            it.taken_bytes = bytes;
        },
        [this, &it, done](const std::error_code& error, std::size_t) {
            const auto held = it.shared_from_this();
            it.writing = false;
            if (error)
                close(held);
            else
                (this->*done)(held, error);
        });
}

// Waits for the next request, or closes after the last response.
void HttpConnections::answered(const HttpConnectionPointer& http, const std::error_code&) {
    http->head.clear();
    http->body.reset();
    if (http->keep_alive)
        await_request(http);
    else
        leave(http);
}

// The peer closes after it has received everything. If the server closed first, unread bytes could reset the connection
// and lose data.
void HttpConnections::leave(const HttpConnectionPointer& http) {
    enter(*http, Phase::leaving);
    http->feed.reset();
    give_up(leaving_.enter(http->number, pending_name(http->number, http->peer, http->is_proxy)), "closing");
    if (http->phase == Phase::gone) return;
    http->connection->end_writing();
    read_on(*http);
}

// --- feeds ---

// Parts are sent on the loop's thread: `wake` is called on any thread and only posts.
void HttpConnections::begin_feed(const HttpConnectionPointer& http, const std::shared_ptr<Feed>& feed) {
    enter(*http, Phase::feeding);
    http->discarded_bytes = 0;
    auto wake = [self = std::weak_ptr(self_), weak = std::weak_ptr(http), &loop = loop_] {
        loop.post([self, weak] {
            const auto held = self.lock();
            const auto client = weak.lock();
            if (held && client) (*held)->send_parts(client);
        });
    };
    http->feed = std::make_unique<FeedClient>(feed, std::move(wake));
    read_on(*http);  // detects when the peer disconnects
    send_parts(http);
}

// Answers with the part for which the response has waited, once it is there.
void HttpConnections::answer_deferred(const HttpConnectionPointer& http) {
    auto& it = *http;
    auto taken = it.feed->take();
    if (taken.parts.empty() && !taken.ended && !taken.too_slow) return;
    auto response = *std::exchange(it.deferred, std::nullopt);
    const auto feed = std::move(response.feed);
    if (taken.parts.empty())
        response = feed->absent_response();
    else
        response.body = std::move(taken.parts.front());
    it.feed.reset();
    try {
        answer(http, response);
    } catch (const std::exception& error) {
        trouble(it, error.what());
        close(http);
    }
}

// Writes all pending parts in one operation, preceded by the header if that has not been sent yet.
void HttpConnections::send_parts(const HttpConnectionPointer& http) {
    auto& it = *http;
    if (it.phase != Phase::feeding || it.writing) return;
    if (it.deferred) return answer_deferred(http);
    auto taken = it.feed->take();
    if (taken.too_slow) {
        refusals_.line_of(it.peer, "{} disconnected: it reads the feed too slowly", it.name);
        return close(http);
    }
    it.parts = std::move(taken.parts);
    it.feed_ended = taken.ended;
    it.chunk_heads.clear();
    if (it.chunked)
        for (const auto& part : it.parts) it.chunk_heads.push_back(fmt::format("{:x}\r\n", part->size()));
    std::vector<ByteSpan> pieces;
    if (!it.head.empty()) pieces.push_back(bytes_of(it.head));
    for (std::size_t i = 0; i < it.parts.size(); ++i) {
        if (it.parts[i]->empty()) continue;  // an empty chunk would end the body
        if (it.chunked) pieces.push_back(bytes_of(it.chunk_heads[i]));
        pieces.push_back(bytes_of(*it.parts[i]));
        if (it.chunked) pieces.push_back(bytes_of("\r\n"));
    }
    if (it.feed_ended && it.chunked) pieces.push_back(bytes_of("0\r\n\r\n"));
    if (!pieces.empty()) return write(http, pieces, &HttpConnections::parts_taken);
    if (it.feed_ended) parts_taken(http, {});
}

// Continues with the parts that have arrived during the write.
void HttpConnections::parts_taken(const HttpConnectionPointer& http, const std::error_code&) {
    http->head.clear();
    http->parts.clear();
    if (http->feed_ended)
        leave(http);
    else
        send_parts(http);
}

}  // namespace framewire::net::http

// HTTP connections: handling of complete requests. The checks run in this order: Host, path, token, route, access.
// Handlers run on worker threads, and their responses are posted back to the loop.

namespace framewire::net::http {

namespace {

using Phase = HttpConnection::Phase;

// Path suffix of a stream's WebSocket.
constexpr std::string_view stream_ending = "/stream";
// Limit for the first message. A message with a token is shorter: at most 255 bytes and the JSON around them.
constexpr std::size_t first_message_most_bytes = 1024;
constexpr const char* too_many_requests = "too many requests are in progress";

std::optional<Method> method_of(std::string_view text) {
    if (text == "GET") return Method::get;
    if (text == "HEAD") return Method::head;
    if (text == "PUT") return Method::put;
    if (text == "POST") return Method::post;
    if (text == "DELETE") return Method::remove;
    return std::nullopt;
}

std::string_view name_of(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::head: return "HEAD";
        case Method::put: return "PUT";
        case Method::post: return "POST";
        case Method::remove: return "DELETE";
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
        return error_response(500, "the request failed; see the server's log");
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
void HttpConnections::handle(const HttpConnectionPointer& http) {
    auto& it = *http;
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
        if (redirect_to_base_path(http)) return;
        it.let_in = admission_.let_in(it.raw, it.peer, loop_.now());
        const bool upgrades = it.raw.lists("connection", "upgrade") && it.raw.count("upgrade") > 0;
        if (upgrades && !has_room) throw Refused{503, too_many_requests};
        if (upgrades) return handle_upgrade(http);
        const auto site = handlers_.site();
        if (!site) throw Refused{503, "this path is not available"};
        if (!stream_of(it.target.path).empty()) throw Refused{426, "streams are only available over WebSocket"};
        const auto method = method_of(it.raw.method);
        auto match = site->match(method.value_or(Method::get), it.target.path, it.target.query, false);
        if (match.allowed.empty()) throw Refused{404, "not found"};
        if (!method || !match.route) {
            auto response = error_response(405, it.raw.method + " is not allowed here");
            std::string allowed;
            for (const auto one : match.allowed) allowed.append(allowed.empty() ? "" : ", ").append(name_of(one));
            response.headers.emplace_back("Allow", allowed);
            return answer(http, response);
        }
        admission_.check_access(it.raw, *match.route, it.let_in);
        if (!has_room && !match.route->at_once) throw Refused{503, too_many_requests};
        run_route(http, site, *match.route, std::move(match.parameters));
    } catch (const Refused& why) {
        refuse(http, why, false);
    } catch (const std::exception& error) {
        trouble(it, error.what());
        close(http);
    }
}

// Takes the client's name and peer from X-Forwarded-For if the connection comes from a trusted proxy.
void HttpConnections::identify(HttpConnection& http) const {
    if (!http.is_proxy) return;
    std::vector<std::string_view> forwarded_for;
    for (const auto& [name, value] : http.raw.fields)
        if (name == "x-forwarded-for") forwarded_for.push_back(value);
    const auto client = front_.proxies.client_of(forwarded_for);
    const auto& own = *http.connection;
    http.name = client ? fmt::format("{} through {}", client->address, own.name()) : own.name();
    http.peer = client ? client->peer : own.peer();
}

// Removes the base path: "/cams/door" becomes "/door". "/cams" is redirected to "/cams/", because the page uses
// relative URLs.
bool HttpConnections::redirect_to_base_path(const HttpConnectionPointer& http) {
    auto& path = http->target.path;
    const auto& base = front_.base_path;
    if (base.empty() || !path.starts_with(base)) return false;
    if (path.size() > base.size()) {
        if (path[base.size()] == '/') path.erase(0, base.size());
        return false;
    }
    Response response{.status = 308};
    const auto& target = http->raw.target;
    response.headers.emplace_back(
        "Location", base.substr(base.rfind('/') + 1) + "/" + target.substr(std::min(target.find('?'), target.size())));
    answer(http, response);
    return true;
}

// Runs the handler. The handler's thread holds only weak references, so the connection may end meanwhile.
void HttpConnections::run_route(const HttpConnectionPointer& http, const std::shared_ptr<const Site>& site,
                                const Route& route, std::map<std::string, std::string, std::less<>> parameters) {
    Request request{.method = method_of(http->raw.method).value_or(Method::get),
                    .path = http->target.path,
                    .parameters = std::move(parameters),
                    .query = http->target.query,
                    .body = std::move(http->raw.body),
                    .content_type = std::string(http->raw.field("content-type").value_or("")),
                    .if_none_match = std::string(http->raw.field("if-none-match").value_or("")),
                    .peer = http->name,
                    .peer_key = http->peer,
                    .host = std::string(http->raw.field("host").value_or("")),
                    .let_in = http->let_in};
    const auto task = [weak = std::weak_ptr(http), self = std::weak_ptr(self_), &loop = loop_, &route,
                       request = std::move(request)](bool may_use_site) {
        auto response = std::make_shared<Response>(error_response(503, "this path is no longer available"));
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
    if (route.at_once ? !handlers_.run_here(site, task) : !handlers_.run(site, http->peer, task))
        throw Refused{503, too_many_requests};
}

// Sends the response of a handler, or starts the feed on a WebSocket.
void HttpConnections::take_response(const HttpConnectionPointer& http, const Response& response) {
    try {
        if (!http->socket) return answer(http, response);
        if (response.feed && !make_room(*http, true)) throw Refused{503, "too many streams and feeds are open"};
        if (response.feed) return begin_feed(http, response.feed);
        refusals_.line_of(http->peer, "{} refused: its WebSocket request was answered with status {} instead of a feed",
                          http->name, response.status);
    } catch (const Refused& why) {
        if (!http->socket) return refuse(http, why, false);
        refusals_.line_of(http->peer, "{} refused: {}", http->name, why.text);
    } catch (const std::exception& error) {
        trouble(*http, error.what());
    }
    close(http);
}

// --- WebSockets ---

// Checks an upgrade request (RFC 6455, 4.2.1). Streams go to the stream protocol, other paths to routes with a feed.
void HttpConnections::handle_upgrade(const HttpConnectionPointer& http) {
    auto& it = *http;
    if (it.raw.method != "GET" || !it.raw.version_1_1 || !it.raw.lists("upgrade", "websocket"))
        throw Refused{400, "a WebSocket requires an HTTP/1.1 GET request"};
    constexpr std::size_t key_length = 24;  // Base64 of 16 bytes (RFC 6455, 4.1)
    if (it.raw.field("sec-websocket-version") != "13" ||
        it.raw.field("sec-websocket-key").value_or("").size() != key_length)
        throw Refused{400, "a WebSocket requires Sec-WebSocket-Version 13 and a valid Sec-WebSocket-Key"};
    admission_.check_origin(it.raw);
    if (auto name = stream_of(it.target.path); !name.empty()) {
        if (!it.raw.lists("sec-websocket-protocol", WebSocketConnection::stream_protocol))
            throw Refused{400, "a stream's WebSocket requires the subprotocol framewire"};
        // Access is checked by the viewer's hello.
        return upgrade(http, false, [this, name](const HttpConnectionPointer& open) {
            auto connection = std::move(open->connection);
            close(open);
            take_viewer_(std::move(connection), name);
        });
    }
    const auto site = handlers_.site();
    if (!site) throw Refused{503, "this path is not available"};
    auto match = site->match(Method::get, it.target.path, it.target.query, true);
    if (!match.route) throw Refused{404, "there is no WebSocket at this path"};
    admission_.check_access(it.raw, *match.route, it.let_in);
    const bool proven = it.let_in || match.route->access == Access::everybody;
    upgrade(http, true,
            [this, site, route = match.route, parameters = std::move(match.parameters),
             proven](const HttpConnectionPointer& open) {
                open->after_proof = [this, site, route, parameters](const HttpConnectionPointer& let_in) {
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
void HttpConnections::upgrade(const HttpConnectionPointer& http, bool text,
                              std::function<void(const HttpConnectionPointer&)> done) {
    enter(*http, Phase::upgrading);
    auto carrier = with_bytes_before(http->reader.rest(), std::move(http->connection), loop_);
    auto socket = std::make_unique<WebSocketConnection>(
        std::move(carrier), WebSocketConnection::Options{
                                .post = [&loop = loop_](std::function<void()> task) { loop.post(std::move(task)); },
                                .text = text,
                                .protocol = text ? std::string() : std::string(WebSocketConnection::stream_protocol),
                                .name = http->name,
                                .peer = http->peer});
    http->socket = socket.get();
    http->connection = std::move(socket);
    http->socket->accept(http->raw.fields,
                         [this, &it = *http, done = std::move(done)](const std::error_code& error, std::size_t) {
                             const auto held = it.shared_from_this();
                             if (error) return close(held);
                             done(held);
                         });
}

// Continues after access to the WebSocket was granted.
void HttpConnections::take_proof(const HttpConnectionPointer& http) {
    try {
        std::exchange(http->after_proof, nullptr)(http);
    } catch (const Refused& why) {
        refusals_.line_of(http->peer, "{} refused: {}", http->name, why.text);
        close(http);
    }
}

// Collects the first message, which must contain the token.
void HttpConnections::take_first_message(const HttpConnectionPointer& http, std::size_t bytes) {
    http->said.append(http->piece.begin(), http->piece.begin() + static_cast<std::ptrdiff_t>(bytes));
    if (http->said.size() > first_message_most_bytes) return close(http);
    if (!http->socket->message_ended()) return read_on(*http);
    const auto token = token_in(std::exchange(http->said, {}));
    if (!token || !admission_.let_in(*token, http->peer, loop_.now())) {
        refusals_.line_of(http->peer, "{} refused: the first message on its WebSocket does not contain the right token",
                          http->name);
        return leave(http);
    }
    http->let_in = true;
    take_proof(http);
}

}  // namespace framewire::net::http
