#pragma once

#include "framewire/session/events/motion_state.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <optional>

namespace framewire::session {

/// Options for events of objects and motion, and for the broker that receives them in addition to HTTP clients.
struct EventOptions {
    /// When motion switches ON and OFF.
    MotionRules motion{};
    /// Optional. Maximum number of object events per second and camera. Default: one per frame with objects.
    std::optional<double> objects_rate{};
    /// Broker that receives the events; without a host there is none.
    MqttOptions mqtt{};
};

}  // namespace framewire::session
