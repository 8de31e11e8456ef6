#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/transport/connection.hpp"

#include <functional>
#include <string>

namespace framewire::net {

/// Why there is no connection, or none any more; another one may do better.
struct Lost {
    std::string why;
};

/// Makes the connections of somebody who waits for each answer, and lets time pass for them. For one thread.
class Dialer {
public:
    virtual ~Dialer() = default;

    /// A new connection. Throws Lost when there is none by the deadline or when told to stop.
    virtual ConnectionPointer dial(Clock::time_point deadline) = 0;

    /// Lets the connections' callbacks run until one has set `done`; false when the deadline is over or when told to
    /// stop before that.
    virtual bool wait(const bool& done, Clock::time_point deadline) = 0;
    /// Calls `task` later, as callbacks of connections are.
    virtual void post(std::function<void()> task) = 0;
    /// The time that deadlines are counted in.
    virtual Clock::time_point now() const = 0;
    /// Whether it was told to stop, which stays so.
    virtual bool stopped() const = 0;
};

}  // namespace framewire::net
