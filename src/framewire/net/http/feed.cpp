// Feeds share state with their clients. There are two mutexes: `mutex` guards clients and queues and is held only
// briefly; `told_mutex` serialises the calls of the on_wanted() callback and is held while that callback runs.

#include "framewire/net/http/feed.hpp"

#include "framewire/net/http/feed_client.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace framewire::net::http {

// Parts that one client has not taken yet. Guarded by the feed's mutex.
struct FeedClient::Queue {
    std::vector<Feed::Part> parts;
    std::size_t bytes = 0;
    bool too_slow = false;
    std::function<void()> wake;
};

// Shared between a feed and its clients, so either may be destroyed first.
struct Feed::State {
    explicit State(const FeedOptions& options_) : options(options_) {}

    // Queues the part for one client, within the limits. The queue of a client that is too slow stays empty.
    void add(FeedClient::Queue& queue, const Part& part) const {
        if (options.newest_only) queue.parts.clear(), queue.bytes = 0;
        const bool fits = options.newest_only || queue.bytes + part->size() <= options.queued_limit_bytes;
        if (queue.too_slow || !fits) {
            queue.too_slow = true;
            queue.parts.clear();
            return;
        }
        queue.parts.push_back(part);
        queue.bytes += part->size();
    }

    // Reports a change between no clients and some. Reports are in order because `told_mutex` is held during the call;
    // `mutex` is free, so the callback may publish.
    void tell_wanted() {
        const std::lock_guard telling(told_mutex);
        bool wanted = false;
        {
            const std::lock_guard lock(mutex);
            wanted = !clients.empty();
        }
        if (told && std::exchange(told_last, wanted) != wanted) told(wanted);
    }

    const FeedOptions options;
    mutable std::mutex mutex;
    std::vector<std::shared_ptr<FeedClient::Queue>> clients;
    Part first;
    bool ended = false;

    std::recursive_mutex told_mutex;  // recursive: the callback may end the feed
    std::function<void(bool)> told;
    bool told_last = false;
};

Feed::Feed(const FeedOptions& options) : state_(std::make_shared<State>(options)) {}
Feed::~Feed() { end(); }

// Clients are woken only when their queue becomes non-empty, so a slow client is not woken for every part.
void Feed::publish(Part part) {
    const std::lock_guard lock(state_->mutex);
    if (state_->ended) return;
    // A client with parts in its queue has been woken already.
    for (const auto& client : state_->clients) {
        const bool waited = !client->parts.empty() || client->too_slow;
        state_->add(*client, part);
        if (!waited) client->wake();
    }
}

void Feed::set_first(Part part) {
    const std::lock_guard lock(state_->mutex);
    state_->first = std::move(part);
}

void Feed::end() {
    // Waits for a running callback before it clears the function.
    {
        const std::lock_guard telling(state_->told_mutex);
        state_->told = nullptr;
    }
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->ended, true)) return;
    for (const auto& client : state_->clients) client->wake();
}

int Feed::clients() const {
    const std::lock_guard lock(state_->mutex);
    return static_cast<int>(state_->clients.size());
}

void Feed::on_wanted(std::function<void(bool wanted)> told) {
    const std::lock_guard telling(state_->told_mutex);
    state_->told = std::move(told);
}

FeedClient::FeedClient(std::shared_ptr<Feed> feed, std::function<void()> wake)
    : feed_(std::move(feed)), queue_(std::make_shared<Queue>()) {
    auto& state = *feed_->state_;
    queue_->wake = std::move(wake);
    {
        const std::lock_guard lock(state.mutex);
        state.clients.push_back(queue_);
        if (state.first) state.add(*queue_, state.first);
        if (state.first || state.ended) queue_->wake();
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
    const std::lock_guard lock(state.mutex);
    queue_->bytes = 0;
    return {std::exchange(queue_->parts, {}), state.ended, queue_->too_slow};
}

}  // namespace framewire::net::http
