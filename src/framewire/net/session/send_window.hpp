#pragma once

#include "framewire/core/time/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace framewire::net {

/// How many bytes may be on their way to a viewer, so that what it sees is never long ago: about as many as its network
/// takes in a round trip. The viewer's acknowledgements tell. While messages take hardly longer than the quickest did,
/// the window doubles with each round trip; when they queue, it becomes what was delivered in the time of the quickest.
class SendWindow {
public:
    /// What a queue on the way may add to the round trip.
    static constexpr std::chrono::milliseconds longest_queue{80};
    static constexpr std::size_t first_bytes = std::size_t{512} << 10, least_bytes = 4096,
                                 most_bytes = std::size_t{64} << 20;

    /// A message of so many bytes goes out.
    void sent(std::size_t bytes, Clock::time_point now);
    /// The viewer has drawn the first `messages` of all sent, and held the last of them for so long before it said so.
    /// False where it drew that before, or what was not sent.
    bool drawn(std::uint64_t messages, std::chrono::microseconds held, Clock::time_point now);

    /// What may be sent now; the least there is where nothing is on its way.
    std::size_t room_bytes() const;
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

    void adapt(std::size_t delivered_bytes, const Message& last, Clock::duration round_trip, bool was_full,
               Clock::time_point now);

    std::deque<Message> under_way_;
    std::uint64_t messages_drawn_ = 0, bytes_delivered_ = 0;
    std::size_t bytes_under_way_ = 0, window_bytes_ = first_bytes;
    Clock::duration round_trip_{};
    // The quickest round trip of this stretch of time and the one before: networks change.
    Clock::duration quickest_ = Clock::duration::max(), quickest_before_ = Clock::duration::max();
    Clock::time_point stretch_end_{};
};

}  // namespace framewire::net
