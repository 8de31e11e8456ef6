#pragma once

#include "framewire/net/tcp.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace framewire::net::testing {

/// A resolver that blocks until it is released and then returns loopback.
class BlockedLookup {
public:
    BlockedLookup() = default;
    BlockedLookup(const BlockedLookup&) = delete;
    BlockedLookup& operator=(const BlockedLookup&) = delete;
    /// Releases the threads that are blocked in a lookup.
    ~BlockedLookup() { release(); }

    HostLookup lookup() const {
        return [shared = shared_](const std::string&) -> std::vector<std::string> {
            std::unique_lock lock(shared->mutex);
            ++shared->asked;
            shared->changed.notify_all();
            shared->changed.wait(lock, [&] { return shared->released; });
            return {"127.0.0.1"};
        };
    }

    void release() {
        const std::lock_guard lock(shared_->mutex);
        shared_->released = true;
        shared_->changed.notify_all();
    }

    int asked() const {
        const std::lock_guard lock(shared_->mutex);
        return shared_->asked;
    }

private:
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        bool released = false;
        int asked = 0;
    };
    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace framewire::net::testing
