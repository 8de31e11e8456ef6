#pragma once

#include "framewire/core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace framewire::network {

/// Effect of a line on the packets in one direction.
struct LinkSettings {
    double loss = 0;             ///< share of packets that are lost, 0 to 1
    double delay_ms = 0;         ///< propagation delay, after the queue
    double bits_per_second = 0;  ///< 0: unlimited
    double queue_ms = 200;       ///< packets that would wait longer are dropped; the queue always has room for 8
                                 ///< packets
};

/// Changes the settings that `text` names, for example "loss=5:delay=100:rate=2M:queue=200", in per cent, milliseconds,
/// and bits per second with k, M or G. Throws std::invalid_argument on any other text.
void read_link_settings(std::string_view text, LinkSettings& settings);

/// Packet, or segment of a connection, and its owner.
struct Packet {
    std::vector<std::uint8_t> bytes;
    int owner = 0;
};

struct LinkCounts {
    std::int64_t taken = 0, lost = 0, dropped = 0, left = 0, left_bytes = 0;
};

/// One direction of a line: a bounded queue, a transmitter with a rate, then a delay. Packets stay in order. The caller
/// supplies the time. Not thread-safe.
class LinkDirection {
public:
    explicit LinkDirection(std::uint32_t seed) : random_(seed) {}

    /// Changes the settings, also for packets that are already in the queue.
    void set(const LinkSettings& settings) { settings_ = settings; }
    const LinkSettings& settings() const { return settings_; }

    /// Returns true if the queue has room for a packet that arrives now.
    bool has_room(Clock::time_point now);
    /// Queues, loses or drops a packet, according to the settings.
    void take(Packet packet, Clock::time_point now);
    /// Returns the next packet that has arrived by now, in order.
    std::optional<Packet> leave(Clock::time_point now);
    /// Returns the time at which leave() may next return a packet; nullopt while the line is empty.
    std::optional<Clock::time_point> next() const;

    const LinkCounts& counts() const { return counts_; }

private:
    struct Timed {
        Packet packet;
        Clock::time_point time;
    };

    // Returns the time at which the packet at the head of the queue is transmitted.
    Clock::time_point head_done() const;
    void transmit(Clock::time_point now);

    LinkSettings settings_{};
    std::mt19937 random_;
    std::deque<Timed> queue_;  // packets in the queue, in order of entry
    std::deque<Timed> way_;    // packets on their way, in order of arrival
    std::size_t queued_bytes_ = 0;
    Clock::time_point free_at_{}, last_arrival_{};
    LinkCounts counts_{};
};

}  // namespace framewire::network
