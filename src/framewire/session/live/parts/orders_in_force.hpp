#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace framewire::session {

/// Tracks how many control requests are in force in the newest state of a stream. Requests are counted when they are
/// accepted, and each frame carries the count with which it was made. May outlive its job, so that waiting threads can
/// finish. Thread-safe.
class OrdersInForce {
public:
    /// Maximum time that wait_for() waits for a frame.
    static constexpr std::chrono::seconds patience{10};

    /// Result of waiting: a frame with the requests was sent, the stream ended first, or `patience` elapsed.
    enum class Outcome { in_force, ended, late };

    /// Notes that a frame made with this many requests was sent.
    void note_sent(std::uint64_t orders);
    /// Notes that no further frames are sent.
    void end();
    /// Returns when a frame made with this many requests was sent, when the stream ended, or after `patience`.
    Outcome wait_for(std::uint64_t orders) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool any_sent_ = false, ended_ = false;
    std::uint64_t sent_ = 0;
};

/// Answer to a request if no frame was sent within `patience`.
inline constexpr const char* late_order_text =
    "no frame has come since this was asked for; it is in force from the next frame on";

/// Identifies requests whose effect a caller can wait for. Before the first frame of a stream there is nothing to wait
/// for, because that frame is made with them.
struct OrderTicket {
    std::shared_ptr<const OrdersInForce> stream{};  ///< null: nothing to wait for
    /// Number of requests that must be in force.
    std::uint64_t orders = 0;

    /// Waits as OrdersInForce::wait_for() does.
    OrdersInForce::Outcome wait() const { return stream ? stream->wait_for(orders) : OrdersInForce::Outcome::in_force; }
};

}  // namespace framewire::session
