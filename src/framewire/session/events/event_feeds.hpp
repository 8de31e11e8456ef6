#pragma once

#include "framewire/net/http/feed.hpp"
#include "framewire/session/events/event.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace framewire::session {

/// Events for whoever asks over HTTP, of all cameras or of one: each is encoded once for each of two forms.
class EventFeeds {
public:
    explicit EventFeeds(std::span<const std::string> cameras);

    using FeedPointer = std::shared_ptr<net::http::Feed>;
    /// Server-sent events, `event: TYPE` and `data: JSON`. Of all cameras where `camera` is empty; none where there is
    /// no such camera, or it has no detector.
    FeedPointer server_sent(const std::string& camera) const;
    /// A text message for each, its JSON.
    FeedPointer messages(const std::string& camera) const;

    void tell(const SharedEvent& event);
    /// A comment to whoever takes server-sent events, so that connections that are gone show it.
    void keep_alive();
    void end();

private:
    struct Both {
        FeedPointer server_sent = std::make_shared<net::http::Feed>();
        FeedPointer messages = std::make_shared<net::http::Feed>();
    };
    const Both* find(const std::string& camera) const;

    std::map<std::string, Both> feeds_;  // of all under the empty name
};

}  // namespace framewire::session
