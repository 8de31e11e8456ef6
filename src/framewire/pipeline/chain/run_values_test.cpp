#include "framewire/pipeline/chain/run_values.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace run_values_test {

TEST(RunValues, TakesFiguresAndFrame) {
    StatisticsSnapshot figures;
    figures.fps = 25;
    figures.seconds = 2;
    figures.sent_bytes = 1'000'000;
    figures.process_ms.mean_ms = 1.5;
    figures.delta.emplace().changed = 0.25;
    const auto values = run_values(figures, {.index = 50, .seconds = 2.04}, "lobby.mp4");
    EXPECT_EQ(values.fps, 25);
    EXPECT_EQ(values.process_ms, 1.5);
    EXPECT_EQ(values.bandwidth_bits_per_s, 4'000'000);
    EXPECT_EQ(values.changed, 0.25);
    EXPECT_EQ(values.frame, 50);
    EXPECT_EQ(values.time_s, 2.04);
    EXPECT_EQ(values.source, "lobby.mp4");
}

TEST(RunValues, BeforeAnythingWasSentAllIsZero) {
    const auto values = run_values({}, {}, "");
    EXPECT_EQ(values.bandwidth_bits_per_s, 0);
    EXPECT_EQ(values.changed, 0);
}

}  // namespace run_values_test
}  // namespace framewire
