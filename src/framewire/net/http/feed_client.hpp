#pragma once

#include "framewire/net/http/feed.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace framewire::net::http {

/// One of a feed's clients, from being made on. What waits for it is bounded as the feed says.
class FeedClient {
public:
    /// `wake` is called, from any thread, when there is something to take and nothing was before.
    FeedClient(std::shared_ptr<Feed> feed, std::function<void()> wake);
    /// `wake` is not called any more.
    ~FeedClient();
    FeedClient(const FeedClient&) = delete;
    FeedClient& operator=(const FeedClient&) = delete;

    struct Taken {
        std::vector<Feed::Part> parts;
        bool ended = false;     ///< nothing comes after them
        bool too_slow = false;  ///< more waited than may: it is to be cut off
    };
    /// Everything that waits.
    Taken take();

private:
    friend class Feed;
    struct Queue;
    std::shared_ptr<Feed> feed_;
    std::shared_ptr<Queue> queue_;
};

}  // namespace framewire::net::http
