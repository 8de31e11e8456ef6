#include "framewire/net/http.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace framewire::net::http {

Response json_response(std::string json, int status) {
    Response response;
    response.status = status;
    response.body = std::make_shared<const std::string>(std::move(json));
    return response;
}

Response error_response(int status, std::string_view text) {
    const nlohmann::ordered_json error{{"status", status}, {"text", printable(text)}};
    return json_response(json_text(nlohmann::ordered_json{{"error", error}}), status);
}

}  // namespace framewire::net::http

// Feeds share state with their clients. There are two mutexes: `mutex` guards clients and queues and is held only
// briefly; `reported_mutex` serialises the calls of the on_wanted() callback and is held while that callback runs.

namespace framewire::net::http {
// Parts that one client has not taken yet. Guarded by the feed's mutex.
struct FeedClient::Queue {
    struct Entry {
        Feed::Part part;
        PartTags tags;
        Clock::time_point arrived{};
    };

    // Drops parts older than `oldest`, and the parts that need them.
    void withdraw(std::uint64_t oldest);
    // Drops all parts before `end` except for that of set_first().
    void drop_before(std::deque<Entry>::const_iterator end);

    std::deque<Entry> parts;
    std::size_t bytes = 0;
    bool too_slow = false;
    bool waits_for_entry = false;
    bool has_first = false;
    std::function<void()> wake;
    std::function<Feed::Part(Feed::Part)> pass;  // only the client's thread calls it
};

void FeedClient::Queue::withdraw(std::uint64_t oldest) {
    const auto last =
        std::find_if(parts.rbegin(), parts.rend(), [&](const Entry& one) { return one.tags.version < oldest; });
    if (last == parts.rend()) return;
    const auto next = std::find_if(last.base(), parts.end(), [](const Entry& one) { return one.tags.entry; });
    waits_for_entry = next == parts.end();
    drop_before(next);
}

void FeedClient::Queue::drop_before(std::deque<Entry>::const_iterator end) {
    const auto first = parts.front().tags.version == always_allowed ? std::next(parts.cbegin()) : parts.cbegin();
    for (auto one = first; one < end; ++one) bytes -= one->part->size();
    if (first < end) parts.erase(first, end);
}

// Shared between a feed and its clients, so either may be destroyed first.
struct Feed::State {
    explicit State(const FeedOptions& options_) : options(options_) {}

    // Queues the part for one client, within the limits. The queue of a client that is too slow stays empty.
    void add(FeedClient::Queue& queue, const Part& part, const PartTags& tags) const {
        if (queue.waits_for_entry && !tags.entry) return;
        queue.waits_for_entry = false;
        // set_first() may be called after the client has connected, but before the first entry.
        if (options.starts_at_entry && first && !std::exchange(queue.has_first, true))
            add(queue, first, {.version = always_allowed});
        if (options.newest_only) queue.parts.clear(), queue.bytes = 0;
        const auto now = Clock::now();
        if (options.late_after && tags.entry && tags.version != always_allowed && !queue.parts.empty() &&
            now - queue.parts.front().arrived > *options.late_after)
            queue.drop_before(queue.parts.end());
        const bool fits = options.newest_only || queue.bytes + part->size() <= options.queued_limit_bytes;
        if (queue.too_slow || !fits) {
            queue.too_slow = true;
            queue.parts.clear();
            queue.bytes = 0;
            return;
        }
        queue.parts.push_back({part, tags, now});
        queue.bytes += part->size();
    }

    // Reports that the first client has connected or the last one has left. Reports are in order because
    // `reported_mutex` is held during the call; `mutex` is free, so the callback may publish.
    void tell_wanted() {
        const std::lock_guard telling(reported_mutex);
        bool wanted = false;
        {
            const std::lock_guard lock(mutex);
            wanted = !clients.empty();
        }
        if (reported && std::exchange(reported_last, wanted) != wanted) reported(wanted);
    }

    const FeedOptions options;
    mutable std::mutex mutex;
    std::vector<std::shared_ptr<FeedClient::Queue>> clients;
    Part first;
    std::vector<FeedClient::Queue::Entry> since_entry;  // parts for new clients
    bool ended = false;

    std::recursive_mutex reported_mutex;  // recursive: the callback may end the feed
    std::function<void(bool)> reported;
    bool reported_last = false;
};

Feed::Feed(const FeedOptions& options) : state_(std::make_shared<State>(options)) {}
Feed::~Feed() { end(); }

// Clients are woken only when their queue becomes non-empty, so a slow client is not woken for every part.
void Feed::publish(Part part, const PartTags& tags) {
    const std::lock_guard lock(state_->mutex);
    if (state_->ended) return;
    if (state_->options.starts_at_entry) {
        if (tags.entry) state_->since_entry.clear();
        if (tags.entry || !state_->since_entry.empty()) state_->since_entry.push_back({part, tags, {}});
    }
    // A client with parts in its queue has been woken already.
    const auto has_news = [](const FeedClient::Queue& queue) { return !queue.parts.empty() || queue.too_slow; };
    for (const auto& client : state_->clients) {
        const bool waited = has_news(*client);
        state_->add(*client, part, tags);
        if (!waited && has_news(*client)) client->wake();
    }
}

void Feed::forget_entry() {
    const std::lock_guard lock(state_->mutex);
    state_->since_entry.clear();
}

void Feed::set_first(Part part) {
    const std::lock_guard lock(state_->mutex);
    state_->first = std::move(part);
}

void Feed::end() {
    // Waits for a running callback before it clears the function.
    {
        const std::lock_guard telling(state_->reported_mutex);
        state_->reported = nullptr;
    }
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->ended, true)) return;
    for (const auto& client : state_->clients) client->wake();
}

void Feed::end_with(Part part, const PartTags& tags) {
    {
        const std::lock_guard lock(state_->mutex);
        if (std::exchange(state_->ended, true)) return;
        state_->since_entry = {{part, tags, {}}};
        for (const auto& client : state_->clients) {
            state_->add(*client, part, tags);
            client->wake();
        }
    }
    const std::lock_guard telling(state_->reported_mutex);
    state_->reported = nullptr;
}

int Feed::clients() const {
    const std::lock_guard lock(state_->mutex);
    return static_cast<int>(state_->clients.size());
}

bool Feed::is_deferred() const { return state_->options.deferred; }

Response Feed::absent_response() const {
    return error_response(state_->options.absent_status, state_->options.absent_text);
}

void Feed::on_wanted(std::function<void(bool wanted)> reported) {
    const std::lock_guard telling(state_->reported_mutex);
    state_->reported = std::move(reported);
}

FeedClient::FeedClient(std::shared_ptr<Feed> feed, std::function<void()> wake)
    : feed_(std::move(feed)), queue_(std::make_shared<Queue>()) {
    auto& state = *feed_->state_;
    queue_->wake = std::move(wake);
    if (state.options.for_client) queue_->pass = state.options.for_client();
    {
        const std::lock_guard lock(state.mutex);
        state.clients.push_back(queue_);
        queue_->has_first = state.first != nullptr;
        if (state.first) state.add(*queue_, state.first, {.version = always_allowed});
        for (const auto& one : state.since_entry) state.add(*queue_, one.part, one.tags);
        queue_->waits_for_entry = state.options.starts_at_entry && state.since_entry.empty();
        if (!queue_->parts.empty() || queue_->too_slow || state.ended) queue_->wake();
    }
    state.tell_wanted();
}

FeedClient::~FeedClient() {
    auto& state = *feed_->state_;
    {
        const std::lock_guard lock(state.mutex);
        std::erase(state.clients, queue_);
    }
    state.tell_wanted();
}

FeedClient::Taken FeedClient::take() {
    const auto& state = *feed_->state_;
    const auto& oldest = state.options.oldest_version;
    const auto version = oldest ? oldest() : 0;
    Taken taken;
    {
        const std::lock_guard lock(state.mutex);
        auto& parts = queue_->parts;
        if (oldest) queue_->withdraw(version);
        taken.too_slow = queue_->too_slow;
        while (!parts.empty() && (!oldest || taken.parts.empty())) {
            queue_->bytes -= parts.front().part->size();
            taken.parts.push_back(std::move(parts.front().part));
            parts.pop_front();
        }
        taken.ended = state.ended && parts.empty();
    }
    if (queue_->pass)
        for (auto& part : taken.parts) part = queue_->pass(std::move(part));
    return taken;
}

namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

// Splits "/a/b" into "a" and "b"; "/" has one empty segment.
std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        parts.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool in_braces(std::string_view part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

// Returns one digit per segment: 1 for a segment in braces, 0 for a literal one. If two patterns match a path, the
// lexicographically smaller shape is more specific.
std::string shape_of(std::string_view pattern) {
    std::string shape;
    for (const auto part : parts_of(pattern)) shape += in_braces(part) ? "1" : "0";
    return shape;
}

// Returns the same text for all patterns that match the same paths.
std::string paths_of(std::string_view pattern) {
    std::string paths;
    for (const auto part : parts_of(pattern)) paths.append("/").append(in_braces(part) ? "{}" : part);
    return paths;
}

// Matches a path against a pattern and stores the segments that braces matched.
bool takes(std::string_view pattern, std::string_view path, Parameters& parameters) {
    const auto wanted = parts_of(pattern), given = parts_of(path);
    if (wanted.size() != given.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (in_braces(wanted[i]) ? given[i].empty() : wanted[i] != given[i]) return false;
        if (in_braces(wanted[i]))
            parameters.insert_or_assign(std::string(wanted[i].substr(1, wanted[i].size() - 2)), std::string(given[i]));
    }
    return true;
}

}  // namespace

// Routes are checked when they are added, so a mistake is reported at start-up instead of at the first request.
void Site::add(Route route) {
    if (!route.pattern.starts_with('/'))
        fail(ErrorCode::internal, "the route '{}' does not begin with /", route.pattern);
    if (!route.handler) fail(ErrorCode::internal, "the route '{}' has no handler", route.pattern);
    if (route.method == Method::head || (route.websocket && route.method != Method::get))
        fail(ErrorCode::internal, "the route '{}' has an unsupported method", route.pattern);
    for (const auto& other : routes_)
        if (other.method == route.method && other.websocket == route.websocket && other.query == route.query &&
            paths_of(other.pattern) == paths_of(route.pattern))
            fail(ErrorCode::internal, "the route '{}' is shadowed by '{}'", route.pattern, other.pattern);
    routes_.push_back(std::move(route));
}

// Goes through all routes: the methods of the other routes are needed for the Allow field of a 405 response.
Site::Match Site::match(Method method, std::string_view path, const Parameters& query, bool websocket) const {
    Match match;
    const auto wanted = method == Method::head ? Method::get : method;
    // A route that names a query parameter precedes one of the same shape that does not.
    const auto rank = [](const Route& route) { return std::pair(shape_of(route.pattern), route.query.empty()); };
    for (const auto& route : routes_) {
        Parameters parameters;
        if (route.websocket != websocket || !takes(route.pattern, path, parameters)) continue;
        if (!route.query.empty() && !query.contains(route.query)) continue;
        match.allowed.push_back(route.method);
        if (route.method == Method::get && !websocket) match.allowed.push_back(Method::head);
        if (route.method != wanted || (match.route && rank(*match.route) <= rank(route))) continue;
        match.route = &route;
        match.parameters = std::move(parameters);
    }
    std::ranges::sort(match.allowed);
    match.allowed.erase(std::unique(match.allowed.begin(), match.allowed.end()), match.allowed.end());
    return match;
}

}  // namespace framewire::net::http
