#include "framewire/net/stream/acknowledgements.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace framewire::net {

void Acknowledgements::take(Clock::time_point now) {
    ++taken_;
    came_at_ = now;
}

void Acknowledgements::send(Connection& connection, std::uint64_t version, Clock::time_point now) {
    if (writing_ || told_ == taken_) return;
    told_ = taken_;
    const auto held = std::chrono::duration_cast<std::chrono::microseconds>(now - came_at_).count();
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    message_ = drawn_message({.messages = taken_,
                              .version = version,
                              .clock_us = microseconds_since_start(now),
                              .held_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(held, 0, most))});
    writing_ = true;
    const ByteSpan piece(message_);
    // A connection that broke says so to who reads.
    connection.write({&piece, 1}, {}, [this](const std::error_code&, std::size_t) { writing_ = false; });
}

}  // namespace framewire::net
