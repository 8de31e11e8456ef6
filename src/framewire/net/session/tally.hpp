#pragma once

#include "framewire/net/session/metrics.hpp"

#include <condition_variable>
#include <mutex>

namespace framewire::net {

/// Statistics that the loop's thread updates and other threads read or wait for.
struct Tally {
    /// Also guards the statistics of the streams.
    mutable std::mutex mutex;
    std::condition_variable_any changed;
    ServerMetrics total{};

    /// Calls `change` with the mutex held and then wakes the waiting threads.
    template <class Change>
    void count(Change change) {
        {
            const std::lock_guard lock(mutex);
            change();
        }
        changed.notify_all();
    }
};

}  // namespace framewire::net
