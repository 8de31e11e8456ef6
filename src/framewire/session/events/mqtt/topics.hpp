#pragma once

#include "framewire/session/events/event.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

struct MqttMessage {
    std::string topic, payload;
    bool retained = false;
};

/// What a broker is told of an event, in this order: PREFIX/NAME/motion with ON or OFF, retained, or
/// PREFIX/NAME/objects with the event; and PREFIX/events with the event.
std::vector<MqttMessage> messages_of(const Event& event, const std::string& prefix);

/// PREFIX/available with online or offline, retained.
MqttMessage available_message(const std::string& prefix, bool online);
/// PREFIX/NAME/motion, retained.
MqttMessage motion_message(const std::string& prefix, const std::string& camera, bool on);

/// What Home Assistant reads to know of a camera's motion, retained:
/// DISCOVERY/binary_sensor/framewire_PREFIX/NAME/config. There points and slashes are underscores, for they may not be.
MqttMessage discovery_message(const std::string& discovery, const std::string& prefix, const std::string& camera);

}  // namespace framewire::session
