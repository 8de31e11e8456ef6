#include "framewire/plan/lag_monitor.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

// Sends 20 frames per second for some seconds. `drops` frames are dropped in each second, and the source plays at a
// speed. Returns how often the monitor reported a lag, and its last report.
struct Reports {
    int count = 0;
    LagMonitor::Lag last{};
};

Reports reports(LagMonitor& monitor, double begin, int seconds, int drops, double speed) {
    Reports found;
    for (int frame = 0; frame <= 20 * seconds; ++frame) {
        const double passed = frame / 20.0;
        const auto lag = monitor.next(begin + passed, speed * passed, 7 + drops * static_cast<std::int64_t>(passed));
        if (!lag) continue;
        ++found.count;
        found.last = *lag;
    }
    return found;
}

TEST(LagMonitor, ReportsNothingInTime) {
    LagMonitor monitor(7);
    EXPECT_EQ(reports(monitor, 100, 60, 0, 1).count, 0);
    EXPECT_EQ(reports(monitor, 200, 60, 1, 0.96).count, 0) << "1 of 21 frames is tolerated";
}

TEST(LagMonitor, ReportsDroppedFramesPerWindow) {
    LagMonitor monitor(7);
    const auto found = reports(monitor, 0, 35, 4, 1);
    EXPECT_EQ(found.count, 3);
    EXPECT_EQ(found.last.dropped, 40);
    EXPECT_EQ(found.last.frames, 200);
    EXPECT_DOUBLE_EQ(found.last.speed, 1);
}

TEST(LagMonitor, ReportsSlowPlayback) {
    LagMonitor monitor(7);
    const auto found = reports(monitor, 0, 10, 0, 0.5);
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.last.dropped, 0);
    EXPECT_DOUBLE_EQ(found.last.speed, 0.5);
}

TEST(LagMonitor, BeginsAgainWhenTimeStepsBack) {
    LagMonitor monitor;
    EXPECT_FALSE(monitor.next(0, 50, 0));
    EXPECT_FALSE(monitor.next(9, 59, 0));
    EXPECT_FALSE(monitor.next(11, 0, 0)) << "a source that starts again is not slow";
    EXPECT_FALSE(monitor.next(20, 9, 0));
    EXPECT_FALSE(monitor.next(21, 10, 0));
    EXPECT_TRUE(monitor.next(31, 11, 0));
}

}  // namespace
}  // namespace framewire
