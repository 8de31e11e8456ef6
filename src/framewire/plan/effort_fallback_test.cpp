#include "framewire/plan/effort_fallback.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

TEST(EffortFallback, KeepsTheEffortWithoutDroppedFrames) {
    EffortFallback fallback(2);
    for (int second = 0; second < 100; ++second) EXPECT_EQ(fallback.next(second, 0), 2) << second;
}

TEST(EffortFallback, ReturnsWhenNoFrameWasDroppedForTheWholeWait) {
    EffortFallback fallback(1);
    EXPECT_EQ(fallback.next(5, 0), 1);
    EXPECT_EQ(fallback.next(6, 1), 0);
    EXPECT_EQ(fallback.next(12, 1), 0);
    // Another dropped frame restarts the wait.
    EXPECT_EQ(fallback.next(13, 4), 0);
    EXPECT_EQ(fallback.next(22.9, 4), 0);
    EXPECT_EQ(fallback.next(23, 4), 1);
    EXPECT_EQ(fallback.next(40, 4), 1);
}

TEST(EffortFallback, DoublesTheWaitEachTimeTheReturnFails) {
    EffortFallback fallback(1);
    double now = 0;
    std::int64_t drops = 0;
    for (const double wait : {10., 20., 40., 80., 160., 320., 640., 640.}) {
        EXPECT_EQ(fallback.next(now += 1, ++drops), 0);
        EXPECT_EQ(fallback.wait_seconds(), wait);
        EXPECT_EQ(fallback.next(now + wait - 0.1, drops), 0);
        EXPECT_EQ(fallback.next(now += wait, drops), 1);
    }
}

TEST(EffortFallback, BeginsWithTheFirstWaitAfterALastingReturn) {
    EffortFallback fallback(1);
    fallback.next(0, 1);
    EXPECT_EQ(fallback.next(10, 1), 1);
    EXPECT_EQ(fallback.next(11, 2), 0);
    EXPECT_EQ(fallback.wait_seconds(), 20);
    EXPECT_EQ(fallback.next(31, 2), 1);
    EXPECT_EQ(fallback.next(51, 3), 0);
    EXPECT_EQ(fallback.wait_seconds(), 10);
}

TEST(EffortFallback, ChangesNothingAtEffortZero) {
    EffortFallback fallback(0);
    for (int second = 0; second < 40; ++second) EXPECT_EQ(fallback.next(second, second < 20 ? second : 20), 0);
}

}  // namespace
}  // namespace framewire
