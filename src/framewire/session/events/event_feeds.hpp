#pragma once

#include "framewire/net/http/feed.hpp"
#include "framewire/session/events/event.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace framewire::session {

/// Events for HTTP clients, from all cameras or from one. Each event is encoded at most once per format. Thread-safe,
/// because feeds are.
class EventFeeds {
public:
    /// `cameras` are the names of those that have a detector.
    explicit EventFeeds(std::span<const std::string> cameras);

    using FeedPointer = std::shared_ptr<net::http::Feed>;
    /// Returns the feed of server-sent events, each as `event: TYPE` and `data: JSON` (WHATWG HTML, section 9.2). Empty
    /// `camera`: events of all cameras. Null if there is no such camera or it has no detector.
    FeedPointer server_sent(const std::string& camera) const;
    /// Returns the feed of WebSocket messages, each the JSON of one event.
    FeedPointer messages(const std::string& camera) const;

    /// Publishes an event to the feeds of all cameras and of its own.
    void tell(const SharedEvent& event);
    /// Sends a comment to clients of server-sent events, so that dead connections are noticed.
    void keep_alive();
    /// Ends all feeds.
    void end();

private:
    struct Both {
        FeedPointer server_sent = std::make_shared<net::http::Feed>();
        FeedPointer messages = std::make_shared<net::http::Feed>();
    };
    const Both* find(const std::string& camera) const;

    // the empty name is the feed of all cameras
    std::map<std::string, Both> feeds_;
};

}  // namespace framewire::session
