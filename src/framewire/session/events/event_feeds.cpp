#include "framewire/session/events/event_feeds.hpp"

#include <fmt/format.h>

namespace framewire::session {

using net::http::Feed;

// All feeds exist from the start, so finding one needs no lock.
EventFeeds::EventFeeds(std::span<const std::string> cameras) {
    feeds_[""];
    for (const auto& camera : cameras) feeds_[camera];
}

const EventFeeds::Both* EventFeeds::find(const std::string& camera) const {
    const auto found = feeds_.find(camera);
    return found == feeds_.end() ? nullptr : &found->second;
}

EventFeeds::FeedPointer EventFeeds::server_sent(const std::string& camera) const {
    const auto* found = find(camera);
    return found ? found->server_sent : nullptr;
}

EventFeeds::FeedPointer EventFeeds::messages(const std::string& camera) const {
    const auto* found = find(camera);
    return found ? found->messages : nullptr;
}

// The message shares the event's JSON; the framed form is built only if a client of server-sent events needs it.
void EventFeeds::tell(const SharedEvent& event) {
    const Feed::Part message(event, &event->json);
    Feed::Part framed;
    for (const auto& name : {std::string(), event->camera}) {
        const auto* feeds = find(name);
        if (!feeds) continue;
        feeds->messages->publish(message);
        if (feeds->server_sent->clients() == 0) continue;
        if (!framed)
            framed = std::make_shared<const std::string>(
                fmt::format("event: {}\ndata: {}\n\n", to_string(event->type), event->json));
        feeds->server_sent->publish(framed);
    }
}

void EventFeeds::keep_alive() {
    static const auto comment = std::make_shared<const std::string>(":\n\n");
    for (const auto& [camera, feeds] : feeds_) feeds.server_sent->publish(comment);
}

void EventFeeds::end() {
    for (const auto& [camera, feeds] : feeds_) {
        feeds.server_sent->end();
        feeds.messages->end();
    }
}

}  // namespace framewire::session
