#include "framewire/net/congestion_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;

// A network with a limited rate and a delay in each direction, and a viewer that draws at once.
class Network {
public:
    Network(double bytes_per_second, Clock::duration delay) : rate_(bytes_per_second), delay_(delay) {}

    void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
    /// Makes one message in `one_of` lose a packet on average. That message and all later ones arrive one round trip
    /// later.
    void lose(int one_of) { one_of_ = one_of; }
    Clock::time_point now() const { return now_; }

    /// Sends a message of `message_bytes` every 33 ms for `time`; skips a message if the window has no room. Returns
    /// the longest delay of a message.
    Clock::duration play(Clock::duration time, std::size_t message_bytes) {
        Clock::duration longest{};
        for (const auto end = now_ + time; now_ < end; now_ += 1ms) {
            for (; !acknowledged_.empty() && acknowledged_.front().at <= now_; acknowledged_.pop_front()) {
                EXPECT_TRUE(window.drawn({++drawn_, 1, 1, 0, acknowledged_.front().coming_us}, now_));
                longest = std::max(longest, now_ - acknowledged_.front().sent - delay_);
            }
            if (now_ < next_) continue;
            next_ += 33ms;
            const auto bytes = std::min(message_bytes, window.room_bytes(now_));
            if (bytes < std::min(message_bytes, CongestionWindow::least_bytes)) continue;
            window.sent(bytes, now_);
            sent_bytes += bytes;
            const std::chrono::duration<double> coming(static_cast<double>(bytes) / rate_);
            free_at_ = std::max(free_at_, now_) + std::chrono::duration_cast<Clock::duration>(coming);
            if (one_of_ > 0 && random_() % static_cast<unsigned>(one_of_) == 0) free_at_ += 2 * delay_ + 20ms;
            acknowledged_.push_back({now_, free_at_ + 2 * delay_, static_cast<std::uint32_t>(1e6 * coming.count())});
        }
        return longest;
    }

    CongestionWindow window;
    std::size_t sent_bytes = 0;

private:
    struct Sent {
        Clock::time_point sent, at;
        std::uint32_t coming_us;
    };
    double rate_;
    Clock::duration delay_;
    Clock::time_point now_{std::chrono::hours(1)}, next_ = now_, free_at_ = now_;
    std::deque<Sent> acknowledged_;
    std::uint64_t drawn_ = 0;
    int one_of_ = 0;
    std::minstd_rand random_{3};
};

TEST(CongestionWindow, DoesNotLimitAFastNetwork) {
    Network network(1e8, 100us);
    EXPECT_LT(network.play(10s, 100'000), 10ms);
    EXPECT_GT(network.sent_bytes, 300u * 100'000);
    EXPECT_LT(network.window.round_trip(), 10ms);
}

TEST(CongestionWindow, DoesNotShrinkAfterAnInstantAcknowledgement) {
    CongestionWindow window;
    const Clock::time_point now{1h};
    window.sent(100'000, now);
    EXPECT_TRUE(window.drawn({1, 1, 1}, now));
    EXPECT_EQ(window.room_bytes(now), CongestionWindow::first_bytes);
}

TEST(CongestionWindow, FillsAHighLatencyPath) {
    Network network(2e6, 100ms);
    network.play(3s, 50'000);
    const auto before = network.sent_bytes;
    network.play(5s, 50'000);
    EXPECT_GT(network.sent_bytes - before, std::size_t{5} * 1'400'000) << "the source sends 1.5 MB/s";
}

TEST(CongestionWindow, KeepsTheQueueShortOnASlowNetwork) {
    Network network(250'000, 50ms);
    network.play(3s, 100'000);
    const auto before = network.sent_bytes;
    EXPECT_LT(network.play(10s, 100'000), 350ms) << "50 ms of latency and a backlog";
    EXPECT_GT(network.sent_bytes - before, std::size_t{10} * 125'000)
        << "at least half of the path's rate must be used";
}

TEST(CongestionWindow, ToleratesPacketLoss) {
    Network network(250'000, 50ms);
    network.lose(12);
    network.play(5s, 4'000);
    const auto before = network.sent_bytes;
    EXPECT_LT(network.play(20s, 4'000), 1s);
    EXPECT_GT(network.sent_bytes - before, std::size_t{20} * 90'000) << "the source sends 121 kB/s";
}

TEST(CongestionWindow, AdaptsToRateChanges) {
    Network network(5e6, 20ms);
    network.play(5s, 50'000);
    network.set_rate(75'000);
    network.play(4s, 50'000);
    EXPECT_LT(network.play(20s, 50'000), 350ms);
    network.set_rate(5e6);
    network.play(1s, 50'000);
    const auto before = network.sent_bytes;
    EXPECT_LT(network.play(1s, 50'000), 100ms);
    EXPECT_GT(network.sent_bytes - before, 28u * 50'000) << "nearly every message must fit again";
}

TEST(CongestionWindow, RejectsRepeatedAndImpossibleAcknowledgements) {
    CongestionWindow window;
    const Clock::time_point now{1h};
    const auto drawn = [](std::uint64_t messages, std::uint32_t held_us = 0, std::uint32_t coming_us = 0) {
        return Drawn{messages, 1, 1, held_us, coming_us};
    };
    EXPECT_FALSE(window.drawn(drawn(1), now));
    for (int i = 0; i < 3; ++i) window.sent(100, now);
    EXPECT_FALSE(window.drawn(drawn(0), now));
    EXPECT_FALSE(window.drawn(drawn(4), now));
    EXPECT_TRUE(window.drawn(drawn(2), now + 5ms));
    EXPECT_EQ(window.round_trip(), 5ms);
    EXPECT_FALSE(window.drawn(drawn(2), now));
    EXPECT_FALSE(window.empty());
    EXPECT_TRUE(window.drawn(drawn(3, ~0u, ~0u), now + 5ms)) << "an impossible holding time must be clamped";
    EXPECT_EQ(window.round_trip(), 0ms);
    EXPECT_TRUE(window.empty());
}

}  // namespace
}  // namespace framewire::net
