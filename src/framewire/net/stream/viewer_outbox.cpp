#include "framewire/net/stream/viewer_outbox.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace framewire::net {

namespace {

// Converts to the protocol's 32 bits and saturates.
std::uint32_t microseconds(Clock::duration time) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, most));
}

}  // namespace

void ViewerOutbox::take(Clock::duration coming, Clock::time_point now) {
    ++taken_;
    coming_ = coming;
    came_at_ = now;
}

// Both messages share one buffer and one write.
void ViewerOutbox::send(Connection& connection, std::uint64_t version, Wishes* wishes, Clock::time_point now) {
    if (writing_) return;
    messages_.clear();
    if (told_ != taken_) {
        told_ = taken_;
        messages_ = drawn_message({.messages = taken_,
                                   .version = version,
                                   .clock_us = microseconds_since_start(now),
                                   .held_us = microseconds(now - came_at_),
                                   .coming_us = microseconds(coming_)});
    }
    if (const auto wish = wishes ? wishes->next() : std::nullopt) {
        const auto message = control_message(*wish);
        messages_.insert(messages_.end(), message.begin(), message.end());
    }
    if (messages_.empty()) return;
    writing_ = true;
    const ByteSpan piece(messages_);
    // A failed connection is reported to the pending read.
    connection.write({&piece, 1}, {}, [this](const std::error_code&, std::size_t) { writing_ = false; });
}

}  // namespace framewire::net
