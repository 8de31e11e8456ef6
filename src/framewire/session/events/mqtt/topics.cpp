#include "framewire/session/events/mqtt/topics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace framewire::session {
namespace {

std::string available_topic(const std::string& prefix) { return prefix + "/available"; }

std::string motion_topic(const std::string& prefix, const std::string& camera) {
    return fmt::format("{}/{}/motion", prefix, camera);
}

// Replaces the characters that discovery topics must not contain.
std::string plain_name(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '.' || c == '/'; }, '_');
    return text;
}

}  // namespace

MqttMessage available_message(const std::string& prefix, bool online) {
    return {available_topic(prefix), online ? "online" : "offline", true};
}

MqttMessage motion_message(const std::string& prefix, const std::string& camera, bool on) {
    return {motion_topic(prefix, camera), on ? "ON" : "OFF", true};
}

std::vector<MqttMessage> messages_of(const Event& event, const std::string& prefix) {
    std::vector<MqttMessage> messages;
    if (event.type == Event::Type::motion)
        messages.push_back(motion_message(prefix, event.camera, event.on));
    else
        messages.push_back({fmt::format("{}/{}/objects", prefix, event.camera), event.json});
    messages.push_back({prefix + "/events", event.json});
    return messages;
}

MqttMessage discovery_message(const std::string& discovery, const std::string& prefix, const std::string& camera) {
    const auto id = fmt::format("framewire/{}/{}", prefix, camera);
    const nlohmann::ordered_json config = {
        {"name", "Motion"},
        {"unique_id", id + "/motion"},
        {"device_class", "motion"},
        {"state_topic", motion_topic(prefix, camera)},
        {"payload_on", "ON"},
        {"payload_off", "OFF"},
        {"availability_topic", available_topic(prefix)},
        {"payload_available", "online"},
        {"payload_not_available", "offline"},
        {"device", {{"identifiers", {id}}, {"name", camera}, {"manufacturer", "framewire"}, {"model", "camera"}}},
        {"origin", {{"name", "framewire"}}}};
    return {fmt::format("{}/binary_sensor/framewire_{}/{}/config", discovery, plain_name(prefix), plain_name(camera)),
            config.dump(), true};
}

}  // namespace framewire::session
