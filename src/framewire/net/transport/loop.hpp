#pragma once

#include "framewire/core/time/clock.hpp"

#include <functional>

namespace framewire::net {

/// The thread that connections run on, as seen by the code that uses them.
class Loop {
public:
    virtual ~Loop() = default;

    /// The clock for deadlines.
    virtual Clock::time_point now() const = 0;
    /// Runs `task` on the loop's thread, in the order of posting. Thread-safe.
    virtual void post(std::function<void()> task) = 0;
    /// Runs `task` on another thread, so that it does not delay the loop. Tasks run one after the other, in the order
    /// of posting.
    virtual void post_work(std::function<void()> task) = 0;
};

}  // namespace framewire::net
