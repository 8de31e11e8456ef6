#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace framewire::net {

/// Estimates the offset of the server's clock from the viewer's. The estimate comes from the fastest recent exchange.
/// Not thread-safe.
class ServerClock {
public:
    /// Takes the clocks that the server returned. Ignores an exchange that would have ended before it began.
    void compare(const Clocks& clocks, Clock::time_point now);
    /// Returns the time from `server_us` on the server's clock to `now`, or nullopt before the first comparison.
    std::optional<std::chrono::microseconds> age(std::uint64_t server_us, Clock::time_point now) const;
    /// Converts a time of the server's clock to the viewer's clock, in microseconds. Returns nullopt before the first
    /// comparison.
    std::optional<std::uint64_t> here_us(std::uint64_t server_us) const;

private:
    std::optional<std::int64_t> ahead_us_;  // how far the server's clock is ahead of this one
    std::int64_t exchange_us_ = 0;          // duration of the exchange that gave `ahead_us_`
    int comparisons_since_ = 0;
};

}  // namespace framewire::net
