#pragma once

#include "framewire/session/events/motion_state.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <optional>

namespace framewire::session {

/// What is told of objects that cameras see, and to whom besides those who ask.
struct EventOptions {
    MotionRules motion{};
    std::optional<double> objects_rate{};  ///< the most events of objects per second of one camera; none: each frame
    MqttOptions mqtt{};
};

}  // namespace framewire::session
