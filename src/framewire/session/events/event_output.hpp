#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/session/events/event.hpp"

namespace framewire::session {

/// A destination for events in addition to HTTP clients of this server.
class EventOutput {
public:
    virtual ~EventOutput() = default;
    /// Accepts one event, in order, from one thread. Queues what cannot be sent yet and never blocks.
    virtual void tell(const SharedEvent& event) = 0;
    /// Call it after the last event. Sends what is queued until `deadline` at most, then stops.
    virtual void end(Clock::time_point deadline) = 0;
};

}  // namespace framewire::session
