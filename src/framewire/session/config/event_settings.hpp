#pragma once

#include "framewire/session/config/settings.hpp"
#include "framewire/session/events/event_options.hpp"

#include <vector>

namespace framewire::session {

/// Settings of events: events-rate, motion-after, motion-hold, mqtt, mqtt-password-file, mqtt-ca, mqtt-discovery,
/// mqtt-spool, mqtt-spool-file.
const std::vector<Setting<EventOptions>>& event_settings();

/// Throws Error{usage} if options do not fit together.
void check_events(const EventOptions& options);

}  // namespace framewire::session
