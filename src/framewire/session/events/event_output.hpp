#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/session/events/event.hpp"

namespace framewire::session {

/// Where events go, besides those who asked this server for them.
class EventOutput {
public:
    virtual ~EventOutput() = default;
    /// In order, from one thread. Keeps what cannot go on yet, and does not wait.
    virtual void tell(const SharedEvent& event) = 0;
    /// There are no more: tells what is left until then, and ends.
    virtual void end(Clock::time_point deadline) = 0;
};

}  // namespace framewire::session
