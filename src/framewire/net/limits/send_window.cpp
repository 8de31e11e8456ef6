#include "framewire/net/limits/send_window.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net {

namespace {

constexpr std::chrono::seconds stretch{5};
constexpr std::chrono::milliseconds rate_stretch{500};
// Longer ways are not waited for twice.
constexpr std::chrono::milliseconds longest_way_again{150};
// One late message may have lost a packet; several say that the network takes less.
constexpr int late_ones = 3;
constexpr std::chrono::milliseconds late_time{300};
// What comes in less than this says little of the network's rate: it had waited somewhere.
constexpr std::chrono::milliseconds least_coming{5};

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void SendWindow::sent(std::size_t bytes, Clock::time_point now) {
    under_way_.push_back({bytes, now, bytes_delivered_});
    bytes_under_way_ += bytes;
}

Clock::duration SendWindow::way() const { return std::min(quickest_, quickest_before_); }

// A packet that was lost comes after another round trip.
Clock::duration SendWindow::queue_allowed() const {
    return longest_queue + std::min<Clock::duration>(way(), longest_way_again);
}

std::size_t SendWindow::room_bytes(Clock::time_point now) const {
    if (under_way_.empty()) return window_bytes_;
    if (drains_ || !has_drawn_ || now - oldest() > way() + queue_allowed()) return 0;
    return window_bytes_ - std::min(window_bytes_, bytes_under_way_);
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
    adapt(bytes, last, std::min<Clock::duration>(round_trip_, std::chrono::microseconds(drawn.coming_us)), was_full,
          now);
    return true;
}

void SendWindow::adapt(std::size_t delivered_bytes, const Message& last, Clock::duration coming, bool was_full,
                       Clock::time_point now) {
    const bool first = std::exchange(has_drawn_, true) == false;
    quickest_ = std::min(quickest_, round_trip_ - coming);
    const auto rate = coming >= least_coming
                          ? static_cast<double>(last.bytes) / seconds_of(coming)
                          : static_cast<double>(bytes_delivered_ - last.delivered_before) / seconds_of(round_trip_);
    if (now >= rate_end_) {
        rate_end_ = now + rate_stretch;
        rate_before_ = std::exchange(rate_, 0);
    }
    if (round_trip_ > Clock::duration(0)) rate_ = std::max(rate_, rate);

    const auto best_rate = std::max(rate_, rate_before_);
    const auto shrink_to = [&](double bytes) {
        if (best_rate > 0 && bytes < static_cast<double>(window_bytes_))
            window_bytes_ = std::max(least_bytes, static_cast<std::size_t>(bytes));
    };
    // Connections begin slowly, so what a first picture tells of the network counts twice.
    if (first) return shrink_to(2 * best_rate * seconds_of(way() + queue_allowed()));
    const auto queue = round_trip_ - way();
    if (queue <= queue_allowed()) {
        late_in_a_row_ = 0;
        if (queue < queue_allowed() / 2 && was_full)
            window_bytes_ = std::min(window_bytes_ + delivered_bytes, most_bytes);
        return;
    }
    if (late_in_a_row_++ == 0) late_since_ = last.at;
    if (late_in_a_row_ >= late_ones || now - late_since_ >= queue_allowed() + late_time)
        shrink_to(best_rate * seconds_of(way() + longest_queue / 2));
}

}  // namespace framewire::net
