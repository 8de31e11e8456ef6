#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace framewire::session {

/// How many control requests are in force in the newest state of a stream. Requests are counted as they are taken, and
/// each frame carries the count that it was made with. Outlives its job for whoever waits. Thread-safe.
class OrdersInForce {
public:
    /// The longest wait for a frame.
    static constexpr std::chrono::seconds patience{10};

    enum class Outcome { in_force, ended, late };

    /// A frame made with so many requests is the newest state now.
    void note_sent(std::uint64_t orders);
    /// No further frames are sent.
    void end();
    /// Returns when a frame made with so many requests was sent, when the stream ended before that, or after
    /// `patience`.
    Outcome wait_for(std::uint64_t orders) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool any_sent_ = false, ended_ = false;
    std::uint64_t sent_ = 0;
};

/// What is answered when no frame came in that time.
inline constexpr const char* late_order_text =
    "no frame has come since this was asked for; it is in force from the next frame on";

/// Requests that were taken, to be waited for. Of a stream without frames so far there is nothing to wait for: its
/// first frame is made with them.
struct OrderTicket {
    std::shared_ptr<const OrdersInForce> stream{};  ///< null: nothing to wait for
    std::uint64_t orders = 0;

    OrdersInForce::Outcome wait() const { return stream ? stream->wait_for(orders) : OrdersInForce::Outcome::in_force; }
};

}  // namespace framewire::session
