#pragma once

#include "network/link/link.hpp"

#include <ctime>

#include <array>
#include <mutex>
#include <optional>

namespace framewire::network {

/// Both directions of a line, running in real time. Thread-safe.
class Line {
public:
    void set(Way way, const LinkSettings& settings) {
        const std::lock_guard lock(mutex_);
        at(way).set(settings);
    }
    LinkCounts counts(Way way) const {
        const std::lock_guard lock(mutex_);
        return directions_[static_cast<std::size_t>(way)].counts();
    }
    bool has_room(Way way) {
        const std::lock_guard lock(mutex_);
        return at(way).has_room(Clock::now());
    }
    void take(Way way, Packet packet) {
        const std::lock_guard lock(mutex_);
        at(way).take(std::move(packet), Clock::now());
    }
    std::optional<Packet> leave(Way way) {
        const std::lock_guard lock(mutex_);
        return at(way).leave(Clock::now());
    }

    /// Returns the time until the next packet is due; at most 20 ms, so that new settings and a stop take effect.
    std::timespec pause() const {
        const std::lock_guard lock(mutex_);
        const auto now = Clock::now();
        auto until = now + std::chrono::milliseconds(20);
        for (const auto& direction : directions_)
            if (const auto next = direction.next()) until = std::min(until, *next);
        const auto left =
            std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(until - now).count());
        return {0, static_cast<long>(left)};
    }

private:
    LinkDirection& at(Way way) { return directions_[static_cast<std::size_t>(way)]; }

    mutable std::mutex mutex_;
    std::array<LinkDirection, 2> directions_{LinkDirection(1), LinkDirection(2)};
};

}  // namespace framewire::network
