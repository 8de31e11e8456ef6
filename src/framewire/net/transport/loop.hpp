#pragma once

#include "framewire/core/time/clock.hpp"

#include <functional>

namespace framewire::net {

/// The thread that connections live in, as those who talk over them see it.
class Loop {
public:
    virtual ~Loop() = default;

    /// The time that deadlines are counted in.
    virtual Clock::time_point now() const = 0;
    /// Calls `task` in the loop's thread, after those posted before. From any thread.
    virtual void post(std::function<void()> task) = 0;
    /// Calls `task` somewhere else, so that the loop's thread need not wait for it; one after the other.
    virtual void post_work(std::function<void()> task) = 0;
};

}  // namespace framewire::net
