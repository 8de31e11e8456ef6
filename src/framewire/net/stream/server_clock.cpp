#include "framewire/net/stream/server_clock.hpp"

#include <algorithm>

namespace framewire::net {

namespace {

// Clocks drift, so a better comparison is replaced after this many worse ones.
constexpr int comparison_holds = 10;

}  // namespace

// The shorter the exchange, the smaller the error. Half of the exchange is assumed for each direction (as in NTP, RFC
// 5905).
void ServerClock::compare(const Clocks& clocks, Clock::time_point now) {
    const auto now_us = microseconds_since_start(now);
    if (clocks.viewer_us > now_us) return;
    const auto exchange_us = static_cast<std::int64_t>(now_us - clocks.viewer_us);
    if (ahead_us_ && exchange_us > exchange_us_ && ++comparisons_since_ < comparison_holds) return;
    ahead_us_ = static_cast<std::int64_t>(clocks.server_us) - static_cast<std::int64_t>(now_us) + exchange_us / 2;
    exchange_us_ = exchange_us;
    comparisons_since_ = 0;
}

std::optional<std::uint64_t> ServerClock::here_us(std::uint64_t server_us) const {
    if (!ahead_us_) return std::nullopt;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(server_us) - *ahead_us_));
}

std::optional<std::chrono::microseconds> ServerClock::age(std::uint64_t server_us, Clock::time_point now) const {
    const auto here = here_us(server_us);
    if (!here) return std::nullopt;
    return std::chrono::microseconds(static_cast<std::int64_t>(microseconds_since_start(now)) -
                                     static_cast<std::int64_t>(*here));
}

}  // namespace framewire::net
