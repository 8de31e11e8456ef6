#include "framewire/net/session/send_window.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net {

namespace {

constexpr std::chrono::seconds stretch{10};

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void SendWindow::sent(std::size_t bytes, Clock::time_point now) {
    under_way_.push_back({bytes, now, bytes_delivered_});
    bytes_under_way_ += bytes;
}

std::size_t SendWindow::room_bytes() const {
    if (under_way_.empty()) return window_bytes_;
    return window_bytes_ - std::min(window_bytes_, bytes_under_way_);
}

bool SendWindow::drawn(std::uint64_t messages, std::chrono::microseconds held, Clock::time_point now) {
    if (messages <= messages_drawn_ || messages - messages_drawn_ > under_way_.size()) return false;
    const bool was_full = 2 * bytes_under_way_ > window_bytes_;
    std::size_t bytes = 0;
    Message last{};
    for (; messages_drawn_ < messages; ++messages_drawn_) {
        last = under_way_.front();
        under_way_.pop_front();
        bytes += last.bytes;
    }
    bytes_under_way_ -= bytes;
    bytes_delivered_ += bytes;
    // No viewer holds a message for longer than it is under way.
    round_trip_ = std::max(Clock::duration(0), now - last.at - held);
    adapt(bytes, last, round_trip_, was_full, now);
    return true;
}

void SendWindow::adapt(std::size_t delivered_bytes, const Message& last, Clock::duration round_trip, bool was_full,
                       Clock::time_point now) {
    if (now >= stretch_end_) {
        stretch_end_ = now + stretch;
        quickest_before_ = std::exchange(quickest_, Clock::duration::max());
    }
    quickest_ = std::min(quickest_, round_trip);
    const auto base = std::min(quickest_, quickest_before_);
    const auto queue = round_trip - base;
    if (queue > longest_queue) {
        const auto rate = static_cast<double>(bytes_delivered_ - last.delivered_before) / seconds_of(round_trip);
        const auto fits = static_cast<std::size_t>(rate * seconds_of(base + longest_queue / 2));
        window_bytes_ = std::clamp(fits, least_bytes, window_bytes_);
    } else if (queue < longest_queue / 2 && was_full) {
        window_bytes_ = std::min(window_bytes_ + delivered_bytes, most_bytes);
    }
}

}  // namespace framewire::net
