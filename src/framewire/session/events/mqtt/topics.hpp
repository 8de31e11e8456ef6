#pragma once

#include "framewire/session/events/event.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// One message for a broker.
struct MqttMessage {
    std::string topic, payload;
    /// True if the broker keeps the message for later subscribers.
    bool retained = false;
};

/// Returns the messages for an event, in this order: PREFIX/NAME/motion with ON or OFF, retained, or
/// PREFIX/NAME/objects with the event's JSON; then PREFIX/events with the event's JSON.
std::vector<MqttMessage> messages_of(const Event& event, const std::string& prefix);

/// Returns the message PREFIX/available with online or offline, retained.
MqttMessage available_message(const std::string& prefix, bool online);
/// Returns the message PREFIX/NAME/motion with ON or OFF, retained.
MqttMessage motion_message(const std::string& prefix, const std::string& camera, bool on);

/// Returns the message by which Home Assistant discovers a camera's motion sensor, retained:
/// DISCOVERY/binary_sensor/framewire_PREFIX/NAME/config. Dots and slashes in PREFIX and NAME become underscores,
/// because discovery topics must not contain them.
MqttMessage discovery_message(const std::string& discovery, const std::string& prefix, const std::string& camera);

}  // namespace framewire::session
