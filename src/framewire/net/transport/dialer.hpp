#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/transport/connection.hpp"

#include <functional>
#include <string>

namespace framewire::net {

/// Thrown if a connection cannot be established or is lost; another attempt may succeed.
struct Lost {
    std::string why;
};

/// Establishes connections for synchronous code, and runs their callbacks while it waits. Use it from one thread.
class Dialer {
public:
    virtual ~Dialer() = default;

    /// Returns a new connection. Throws Lost if there is none before the deadline or the stop.
    virtual ConnectionPointer dial(Clock::time_point deadline) = 0;

    /// Runs callbacks of the connections until one sets `done`, and returns true. Returns false at the deadline or when
    /// the dialer is stopped.
    virtual bool wait(const bool& done, Clock::time_point deadline) = 0;
    /// Runs `task` later, like the callbacks of connections.
    virtual void post(std::function<void()> task) = 0;
    /// The clock for deadlines.
    virtual Clock::time_point now() const = 0;
    /// Returns true once the dialer has been stopped.
    virtual bool stopped() const = 0;
};

}  // namespace framewire::net
