#include "framewire/pipeline/circle/pacer.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace framewire {
namespace pacer_test {

using namespace std::chrono_literals;

const Clock::time_point start = Clock::time_point{} + 1000s;

TEST(Pacer, FollowsTheTimesOfFrames) {
    Pacer pacer;
    EXPECT_EQ(pacer.due(7.0, start), start);
    EXPECT_EQ(pacer.due(7.25, start + 1ms), start + 250ms);
    EXPECT_EQ(pacer.due(7.5, start + 251ms), start + 500ms);
}

TEST(Pacer, CatchesUpAfterShortDelaysOnly) {
    Pacer pacer;
    pacer.due(0, start);
    EXPECT_EQ(pacer.due(0.25, start + 900ms), start + 250ms);
    EXPECT_EQ(pacer.due(0.5, start + 900ms), start + 500ms);
    EXPECT_EQ(pacer.due(0.75, start + 10s), start + 10s);
    EXPECT_EQ(pacer.due(1.0, start + 10s), start + 10s + 250ms);
}

TEST(Pacer, ToleratesImplausibleTimes) {
    Pacer pacer;
    pacer.due(0, start);
    EXPECT_EQ(pacer.due(1e300, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(3, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(std::numeric_limits<double>::quiet_NaN(), start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(4, start), start + Pacer::longest_gap);
    EXPECT_EQ(pacer.due(4.5, start), start + Pacer::longest_gap + 500ms);
}

}  // namespace pacer_test
}  // namespace framewire
