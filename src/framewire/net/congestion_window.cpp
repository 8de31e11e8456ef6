#include "framewire/net/congestion_window.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net {

namespace {

// The minimum round trip is kept for one to two of these intervals, the delivery rate for one to two of
// `rate_interval`.
constexpr std::chrono::seconds interval{5};
// Interval of the maximum delivery rate.
constexpr std::chrono::milliseconds rate_interval{500};
// Upper limit of the extra queueing time that is allowed for one retransmission.
constexpr std::chrono::milliseconds longest_trip_again{150};
// A single late message may be due to one lost packet. Several in a row mean that the path is congested.
constexpr int late_ones = 3;
// The window also shrinks if all messages have been late for this much longer than the allowed queue.
constexpr std::chrono::milliseconds late_time{300};
// If a message arrives in less time, it was queued close to the viewer, and its duration says little about the path.
constexpr std::chrono::milliseconds least_coming{5};

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void CongestionWindow::sent(std::size_t bytes, Clock::time_point now) {
    under_way_.push_back({bytes, now, bytes_delivered_});
    bytes_under_way_ += bytes;
}

Clock::duration CongestionWindow::min_round_trip() const { return std::min(min_round_trip_, min_round_trip_before_); }

// Allows for one retransmission: a lost packet arrives one round trip later.
Clock::duration CongestionWindow::queue_allowed() const {
    return longest_queue + std::min<Clock::duration>(min_round_trip(), longest_trip_again);
}

// If messages are in flight, nothing more is sent before the first acknowledgement, while the window drains, and while
// the oldest message is overdue.
std::size_t CongestionWindow::room_bytes(Clock::time_point now) const {
    if (under_way_.empty()) return window_bytes_;
    if (drains_ || !has_drawn_ || now - oldest() > min_round_trip() + queue_allowed()) return 0;
    return window_bytes_ - std::min(window_bytes_, bytes_under_way_);
}

bool CongestionWindow::drawn(const Drawn& drawn, Clock::time_point now) {
    // Acknowledgements are cumulative: `drawn.messages` counts all messages since the start of the connection.
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
    // A new interval starts: the window drains once, so that a round trip without a queue is measured.
    if (now >= interval_end_) {
        interval_end_ = now + interval;
        min_round_trip_before_ = std::exchange(min_round_trip_, Clock::duration::max());
        drains_ = true;
    }
    if (under_way_.empty()) drains_ = false;
    // A viewer cannot have held or received a message for longer than its round trip.
    round_trip_ = std::max(Clock::duration(0), now - last.at - std::chrono::microseconds(drawn.held_us));
    adapt(bytes, last, std::min<Clock::duration>(round_trip_, std::chrono::microseconds(drawn.coming_us)), was_full,
          now);
    return true;
}

// Updates the estimates of the path, then the window:
//
//   first acknowledgement             shrink to 2 * rate * (path + allowed queue)
//   queue < half of what is allowed   grow by the bytes delivered, if the window was full
//   queue <= allowed                  keep
//   queue > allowed, repeatedly       shrink to rate * (path + longest_queue / 2)
//
// The queue is the round trip minus the minimum round trip.
void CongestionWindow::adapt(std::size_t delivered_bytes, const Message& last, Clock::duration coming, bool was_full,
                             Clock::time_point now) {
    const bool first = std::exchange(has_drawn_, true) == false;
    min_round_trip_ = std::min(min_round_trip_, round_trip_ - coming);
    // The time in which the message arrives measures the rate directly, unless it is too short. Then the rate is the
    // bytes delivered per round trip.
    const auto rate = coming >= least_coming
                          ? static_cast<double>(last.bytes) / seconds_of(coming)
                          : static_cast<double>(bytes_delivered_ - last.delivered_before) / seconds_of(round_trip_);
    if (now >= rate_end_) {
        rate_end_ = now + rate_interval;
        rate_before_ = std::exchange(rate_, 0);
    }
    if (round_trip_ > Clock::duration(0)) rate_ = std::max(rate_, rate);

    const auto best_rate = std::max(rate_, rate_before_);
    const auto shrink_to = [&](double bytes) {
        if (best_rate > 0 && bytes < static_cast<double>(window_bytes_))
            window_bytes_ = std::max(least_bytes, static_cast<std::size_t>(bytes));
    };
    // TCP starts slowly, so the rate measured with the first keyframe is doubled.
    if (first) return shrink_to(2 * best_rate * seconds_of(min_round_trip() + queue_allowed()));
    const auto queue = round_trip_ - min_round_trip();
    if (queue <= queue_allowed()) {
        late_in_a_row_ = 0;
        if (queue < queue_allowed() / 2 && was_full)
            window_bytes_ = std::min(window_bytes_ + delivered_bytes, most_bytes);
        return;
    }
    if (late_in_a_row_++ == 0) late_since_ = last.at;
    if (late_in_a_row_ >= late_ones || now - late_since_ >= queue_allowed() + late_time)
        shrink_to(best_rate * seconds_of(min_round_trip() + longest_queue / 2));
}

}  // namespace framewire::net
