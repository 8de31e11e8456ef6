#include "framewire/pipeline/chain/run_values.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

namespace framewire {
namespace run_values_test {

TEST(RunValues, CombineStatisticsAndFrame) {
    StatisticsSnapshot figures;
    figures.fps = 25;
    figures.seconds = 2;
    figures.sent_bytes = 1'000'000;
    figures.process_ms.mean_ms = 1.5;
    figures.read_ms.mean_ms = 2.5;
    figures.send_ms.mean_ms = 0.5;
    figures.delta.emplace().changed = 0.25;
    const auto before = std::time(nullptr);
    const auto captured = Clock::now() - std::chrono::hours(1);
    const auto values = run_values(figures, {.index = 50, .seconds = 2.04, .captured = captured}, "lobby.mp4");
    EXPECT_GE(values.clock_s, before - 3601);
    EXPECT_LE(values.clock_s, std::time(nullptr) - 3599);
    EXPECT_EQ(values.read_ms, 2.5);
    EXPECT_EQ(values.send_ms, 0.5);
    EXPECT_EQ(values.fps, 25);
    EXPECT_EQ(values.process_ms, 1.5);
    EXPECT_EQ(values.bandwidth_bits_per_s, 4'000'000);
    EXPECT_EQ(values.changed, 0.25);
    EXPECT_EQ(values.frame, 50);
    EXPECT_EQ(values.time_s, 2.04);
    EXPECT_EQ(values.source, "lobby.mp4");
}

TEST(RunValues, AreZeroBeforeAnythingWasSent) {
    const auto values = run_values({}, {}, "");
    EXPECT_EQ(values.bandwidth_bits_per_s, 0);
    EXPECT_EQ(values.changed, 0);
}

}  // namespace run_values_test
}  // namespace framewire
