#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace framewire::net {

/// Congestion window of one viewer: limits the bytes in flight, so that the viewer sees recent pictures. It adapts to
/// the viewer's acknowledgements.
///
/// The idea is delay-based congestion control. Like BBR (Cardwell et al. 2016) it estimates the path from its maximum
/// delivery rate and its minimum round trip, and drains the path from time to time to measure that minimum again. Like
/// LEDBAT (RFC 6817) it bounds the queueing delay that it adds. While messages take hardly longer than the minimum, the
/// window doubles with every round trip. If several messages in a row queue for longer than a retransmission takes, it
/// shrinks to the product of the delivery rate and the minimum round trip plus half of the allowed queue.
///
/// Not thread-safe.
class CongestionWindow {
public:
    /// Longest delay that queueing may add to the round trip.
    static constexpr std::chrono::milliseconds longest_queue{80};
    /// Initial, smallest and largest window in bytes.
    static constexpr std::size_t first_bytes = std::size_t{2} << 20, least_bytes = 4096,
                                 most_bytes = std::size_t{64} << 20;

    /// Records that a message of `bytes` bytes is sent.
    void sent(std::size_t bytes, Clock::time_point now);
    /// Takes an acknowledgement and adapts the window. Returns false if it is not newer than the previous one, or
    /// acknowledges messages that were not sent.
    bool drawn(const Drawn& drawn, Clock::time_point now);

    /// Returns how many bytes may be sent now. While messages are in flight, returns 0 before the first
    /// acknowledgement, while the path drains, and if the oldest message is overdue.
    std::size_t room_bytes(Clock::time_point now) const;
    /// Returns true if nothing is in flight.
    bool empty() const { return under_way_.empty(); }
    /// Returns true if at most half of the window is in flight.
    bool half_empty() const { return 2 * bytes_under_way_ <= window_bytes_; }
    /// Returns when the oldest message in flight was sent. Requires !empty().
    Clock::time_point oldest() const { return under_way_.front().at; }
    /// Returns the round trip of the last acknowledged message, or 0 if there is none.
    Clock::duration round_trip() const { return round_trip_; }

private:
    struct Message {
        std::size_t bytes;
        Clock::time_point at;
        std::uint64_t delivered_before;  // bytes acknowledged when this message was sent
    };

    // Returns the smaller of the two minima below.
    Clock::duration min_round_trip() const;
    Clock::duration queue_allowed() const;
    void adapt(std::size_t delivered_bytes, const Message& last, Clock::duration coming, bool was_full,
               Clock::time_point now);

    std::deque<Message> under_way_;
    std::uint64_t messages_drawn_ = 0, bytes_delivered_ = 0;
    std::size_t bytes_under_way_ = 0, window_bytes_ = first_bytes;
    Clock::duration round_trip_{};
    // Minimum round trip without transmission time, in the current interval and the previous one. Older values are
    // forgotten, because paths change.
    Clock::duration min_round_trip_ = Clock::duration::max(), min_round_trip_before_ = Clock::duration::max();
    Clock::time_point interval_end_{};
    bool drains_ = false, has_drawn_ = false;
    // Maximum delivery rate in bytes per second, in the current interval and the previous one, and the end of the
    // current interval. `late_since_` is when the first message of the latest run of late messages was sent.
    double rate_ = 0, rate_before_ = 0;
    Clock::time_point rate_end_{}, late_since_{};
    int late_in_a_row_ = 0;
};

}  // namespace framewire::net
