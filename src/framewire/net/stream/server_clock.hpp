#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace framewire::net {

/// A server's clock as a viewer knows it: what it said, in the middle of the quickest exchange of late.
class ServerClock {
public:
    /// The server's answer to what this viewer said of its own clock; what makes no sense is left out.
    void compare(const Clocks& clocks, Clock::time_point now);
    /// How long before `now` the server's clock said `server_us`; none before the first comparison.
    std::optional<std::chrono::microseconds> age(std::uint64_t server_us, Clock::time_point now) const;
    /// What the viewer's clock said then, in microseconds; none likewise.
    std::optional<std::uint64_t> here_us(std::uint64_t server_us) const;

private:
    std::optional<std::int64_t> ahead_us_;  // of this clock
    std::int64_t exchange_us_ = 0;          // how long that comparison took
    int comparisons_since_ = 0;
};

}  // namespace framewire::net
