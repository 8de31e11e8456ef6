#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/session/events/event_feeds.hpp"
#include "framewire/session/web/routes.hpp"

#include <string>

namespace framewire::session::web {
namespace {

using net::http::Request;
using net::http::Response;

// Answers with the events of the camera that the query names, or of all cameras if it names none.
Response events_of(const EventFeeds& feeds, const Request& request,
                   EventFeeds::FeedPointer (EventFeeds::*form)(const std::string& camera) const) {
    const auto named = request.query.find("camera");
    const auto camera = named == request.query.end() ? std::string() : named->second;
    auto feed = (feeds.*form)(camera);
    if (!feed)
        fail(ErrorCode::no_input, "there is no camera {} that looks for moving objects (serve --detect)",
             in_quotes(camera));
    return {.content_type = "text/event-stream", .feed = std::move(feed)};
}

}  // namespace

// One route for both forms: a WebSocket handshake gets messages, any other request gets server-sent events.
void add_event_routes(net::http::Site& site, const EventFeeds& events) {
    for (const bool websocket : {false, true}) {
        const auto form = websocket ? &EventFeeds::messages : &EventFeeds::server_sent;
        site.add({.pattern = "/api/events",
                  .access = net::http::Access::viewers,
                  .handler = [&events, form](const Request& request) { return events_of(events, request, form); },
                  .websocket = websocket});
    }
}

}  // namespace framewire::session::web
