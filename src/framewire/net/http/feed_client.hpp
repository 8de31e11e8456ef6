#pragma once

#include "framewire/net/http/feed.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace framewire::net::http {

/// One client of a feed, registered for its lifetime. Its pending parts are bounded by the feed's options.
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
    /// Removes and returns all pending parts.
    Taken take();

private:
    friend class Feed;
    struct Queue;
    std::shared_ptr<Feed> feed_;
    std::shared_ptr<Queue> queue_;
};

}  // namespace framewire::net::http
