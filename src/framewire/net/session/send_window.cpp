#include "framewire/net/session/send_window.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net {

namespace {

constexpr std::chrono::seconds stretch{5};
// What comes in less than this says little of the network's rate: it had waited somewhere.
constexpr std::chrono::milliseconds least_coming{5};

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void SendWindow::sent(std::size_t bytes, Clock::time_point now) {
    under_way_.push_back({bytes, now, bytes_delivered_});
    bytes_under_way_ += bytes;
}

Clock::duration SendWindow::way() const { return std::min(quickest_, quickest_before_); }

std::size_t SendWindow::room_bytes(Clock::time_point now) const {
    if (under_way_.empty()) return window_bytes_;
    const bool is_late = way() != Clock::duration::max() && now - oldest() > way() + longest_queue;
    return drains_ || is_late ? 0 : window_bytes_ - std::min(window_bytes_, bytes_under_way_);
}

bool SendWindow::drawn(const Drawn& drawn, Clock::time_point now) {
    if (drawn.messages <= messages_drawn_ || drawn.messages - messages_drawn_ > under_way_.size()) return false;
    const bool was_full = 2 * bytes_under_way_ > window_bytes_;
    std::size_t bytes = 0;
    Message last{};
    for (; messages_drawn_ < drawn.messages; ++messages_drawn_) {
        last = under_way_.front();
        under_way_.pop_front();
        bytes += last.bytes;
    }
    bytes_under_way_ -= bytes;
    bytes_delivered_ += bytes;
    if (now >= stretch_end_) {
        stretch_end_ = now + stretch;
        quickest_before_ = std::exchange(quickest_, Clock::duration::max());
        drains_ = true;
    }
    if (under_way_.empty()) drains_ = false;
    // No viewer holds a message, or is taking it, for longer than it is under way.
    round_trip_ = std::max(Clock::duration(0), now - last.at - std::chrono::microseconds(drawn.held_us));
    adapt(bytes, last, std::min<Clock::duration>(round_trip_, std::chrono::microseconds(drawn.coming_us)), was_full);
    return true;
}

void SendWindow::adapt(std::size_t delivered_bytes, const Message& last, Clock::duration coming, bool was_full) {
    quickest_ = std::min(quickest_, round_trip_ - coming);
    const auto queue = round_trip_ - way();
    if (queue > longest_queue) {
        const auto rate = coming >= least_coming
                              ? static_cast<double>(last.bytes) / seconds_of(coming)
                              : static_cast<double>(bytes_delivered_ - last.delivered_before) / seconds_of(round_trip_);
        const auto fits = static_cast<std::size_t>(rate * seconds_of(way() + longest_queue / 2));
        window_bytes_ = std::clamp(fits, least_bytes, window_bytes_);
    } else if (queue < longest_queue / 2 && was_full) {
        window_bytes_ = std::min(window_bytes_ + delivered_bytes, most_bytes);
    }
}

}  // namespace framewire::net
