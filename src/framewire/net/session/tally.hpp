#pragma once

#include "framewire/net/session/metrics.hpp"

#include <condition_variable>
#include <mutex>

namespace framewire::net {

/// What a server's thread counts and others read.
struct Tally {
    mutable std::mutex mutex;  ///< guards the figures of the streams, too
    std::condition_variable_any changed;
    ServerMetrics total{};

    /// Changes figures and tells who waits for them.
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
