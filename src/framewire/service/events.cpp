#include "framewire/service/events.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/net/address.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <utility>

namespace framewire::service {
namespace {

// Milliseconds since the Unix epoch.
std::int64_t milliseconds_of(WallTime time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

std::string_view to_string(Event::Type type) {
    switch (type) {
        case Event::Type::motion: return "motion";
        case Event::Type::zone: return "zone";
        default: return "objects";
    }
}

std::string to_utc_text(WallTime time) {
    constexpr std::int64_t second_ms = 1000;
    const auto whole_ms = std::max<std::int64_t>(0, milliseconds_of(time));
    const auto seconds = static_cast<std::time_t>(whole_ms / second_ms);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, whole_ms % second_ms);
}

// Names of streams and ids contain no characters that JSON escapes.
SharedEvent objects_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame) {
    return std::make_shared<Event>(Event{
        Event::Type::objects, camera, false,
        fmt::format(
            R"({{"type":"objects","id":"{}","camera":"{}","frame":{},"time":"{}","width":{},"height":{},"objects":{}}})",
            id, camera, frame.time.index, to_utc_text(time), frame.shape.width, frame.shape.height,
            objects_json(frame.objects, {}, frame.tracks))});
}

SharedEvent motion_event(const std::string& camera, const std::string& id, WallTime time, bool on, std::int64_t frame) {
    return std::make_shared<Event>(
        Event{Event::Type::motion, camera, on,
              fmt::format(R"({{"type":"motion","id":"{}","camera":"{}","state":"{}","frame":{},"time":"{}"}})", id,
                          camera, on ? "ON" : "OFF", frame, to_utc_text(time))});
}

SharedEvent zone_event(const std::string& camera, const std::string& id, WallTime time, const SeenFrame& frame,
                       const ZoneEvent& event) {
    return std::make_shared<Event>(Event{
        Event::Type::zone, camera, false,
        fmt::format(R"({{"type":"zone","id":"{}","camera":"{}","frame":{},"time":"{}","width":{},"height":{},{}}})", id,
                    camera, frame.time.index, to_utc_text(time), frame.shape.width, frame.shape.height,
                    event_members(event))});
}

// Spool files may be damaged, so anything unexpected is rejected without an exception.
std::optional<Event> read_event(std::string_view json) {
    if (json.size() > max_event_bytes || json.find('\n') != json.npos) return std::nullopt;
    const auto object = nlohmann::json::parse(json, nullptr, false);
    if (!object.is_object()) return std::nullopt;
    const auto text = [&](const char* key) {
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    Event event{.camera = text("camera"), .json = std::string(json)};
    if (!net::is_stream_name(event.camera) || text("id").empty()) return std::nullopt;
    const auto type = text("type"), state = text("state");
    if (type == "objects") return event;
    if (type == "zone") {
        event.type = Event::Type::zone;
        return event;
    }
    if (type != "motion" || (state != "ON" && state != "OFF")) return std::nullopt;
    event.type = Event::Type::motion;
    event.on = state == "ON";
    return event;
}

EventIds::EventIds(const std::string& camera, WallTime started)
    : prefix_(fmt::format("{}-{}-", camera, milliseconds_of(started))) {}

std::string EventIds::next() { return prefix_ + fmt::to_string(++given_); }

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

}  // namespace framewire::service
