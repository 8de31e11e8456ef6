#pragma once

#include "framewire/core/time/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace framewire::network {

/// What a line does to packets in one direction.
struct LinkSettings {
    double loss = 0;             ///< share of packets that vanish, 0 to 1
    double delay_ms = 0;         ///< on the way, after the queue
    double bits_per_second = 0;  ///< 0: as quick as can be
    double queue_ms = 200;       ///< what would wait longer for its turn is dropped; room for 8 packets there always is
};

/// Changes what `text` names: "loss=5:delay=100:rate=2M:queue=200"; per cent, milliseconds, bits a second with k, M or
/// G. Throws std::invalid_argument on anything else.
void read_link_settings(std::string_view text, LinkSettings& settings);

/// A packet, or a piece of a connection, and whose it is.
struct Packet {
    std::vector<std::uint8_t> bytes;
    int owner = 0;
};

struct LinkCounts {
    std::int64_t taken = 0, lost = 0, dropped = 0, left = 0, left_bytes = 0;
};

/// One direction of a line: a bounded queue before a transmitter of a rate, then a delay. Packets stay in their order.
/// It has no clock of its own. For one thread.
class LinkDirection {
public:
    explicit LinkDirection(std::uint32_t seed) : random_(seed) {}

    /// Holds for what waits in the queue, too.
    void set(const LinkSettings& settings) { settings_ = settings; }
    const LinkSettings& settings() const { return settings_; }

    /// Whether a packet that comes now finds room.
    bool has_room(Clock::time_point now);
    /// Takes, loses or drops a packet.
    void take(Packet packet, Clock::time_point now);
    /// The next packet that has arrived by now, in turn.
    std::optional<Packet> leave(Clock::time_point now);
    /// When leave() is worth asking again; nothing while the line is empty.
    std::optional<Clock::time_point> next() const;

    const LinkCounts& counts() const { return counts_; }

private:
    struct Timed {
        Packet packet;
        Clock::time_point time;
    };

    // When the packet at the queue's head is transmitted.
    Clock::time_point head_done() const;
    void transmit(Clock::time_point now);

    LinkSettings settings_{};
    std::mt19937 random_;
    std::deque<Timed> queue_;  // by their coming
    std::deque<Timed> way_;    // by their arrival
    std::size_t queued_bytes_ = 0;
    Clock::time_point free_at_{}, last_arrival_{};
    LinkCounts counts_{};
};

}  // namespace framewire::network
