#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace framewire::net {

/// How many bytes may be on their way to a viewer, so that what it sees is never long ago: about as many as its network
/// takes in a round trip. The viewer's acknowledgements tell. While messages are hardly longer on their way than a
/// first byte is at best, the window doubles with each round trip. When several in a row queue for longer than a packet
/// takes to be sent again, it becomes what the network takes in the time of that way and half of the queue allowed. Now
/// and then it lets the way run empty, to see how long that is.
class SendWindow {
public:
    /// What a queue on the way may add to the round trip.
    static constexpr std::chrono::milliseconds longest_queue{80};
    static constexpr std::size_t first_bytes = std::size_t{2} << 20, least_bytes = 4096,
                                 most_bytes = std::size_t{64} << 20;

    /// A message of so many bytes goes out.
    void sent(std::size_t bytes, Clock::time_point now);
    /// The viewer has drawn messages. False where it had drawn those before, or they were not sent.
    bool drawn(const Drawn& drawn, Clock::time_point now);

    /// What may be sent now: nothing while a message is under way for longer than it should be.
    std::size_t room_bytes(Clock::time_point now) const;
    bool empty() const { return under_way_.empty(); }
    bool half_empty() const { return 2 * bytes_under_way_ <= window_bytes_; }
    /// When the oldest message on its way was sent; there is one.
    Clock::time_point oldest() const { return under_way_.front().at; }
    /// Of the last message drawn; 0 before.
    Clock::duration round_trip() const { return round_trip_; }

private:
    struct Message {
        std::size_t bytes;
        Clock::time_point at;
        std::uint64_t delivered_before;  // bytes
    };

    Clock::duration way() const;
    Clock::duration queue_allowed() const;
    void adapt(std::size_t delivered_bytes, const Message& last, Clock::duration coming, bool was_full,
               Clock::time_point now);

    std::deque<Message> under_way_;
    std::uint64_t messages_drawn_ = 0, bytes_delivered_ = 0;
    std::size_t bytes_under_way_ = 0, window_bytes_ = first_bytes;
    Clock::duration round_trip_{};
    // The way of a first byte and back at best, in this stretch of time and the one before: networks change.
    Clock::duration quickest_ = Clock::duration::max(), quickest_before_ = Clock::duration::max();
    Clock::time_point stretch_end_{};
    bool drains_ = false, has_drawn_ = false;
    // The most bytes per second that came, of late; and since when all messages were late.
    double rate_ = 0, rate_before_ = 0;
    Clock::time_point rate_end_{}, late_since_{};
    int late_in_a_row_ = 0;
};

}  // namespace framewire::net
