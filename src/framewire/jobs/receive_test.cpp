#include "framewire/jobs/receive.hpp"

#include <gtest/gtest.h>

namespace framewire::jobs {
namespace {

TEST(RecordingTime, StartsAtZeroAndFollowsTheStream) {
    RecordingTime time({25, 1});
    EXPECT_EQ(time.next(1000).seconds, 0);
    EXPECT_EQ(time.next(1000.5).seconds, 0.5);
    const auto third = time.next(1002);
    EXPECT_EQ(third.seconds, 2);
    EXPECT_EQ(third.index, 2);
}

TEST(RecordingTime, ContinuesByOneFrameIfTheStreamJumps) {
    RecordingTime time({25, 1});
    time.next(1000);
    EXPECT_NEAR(time.next(3).seconds, 0.04, 1e-6) << "a restarted server";
    EXPECT_NEAR(time.next(4).seconds, 1.04, 1e-6);
    EXPECT_NEAR(time.next(1e9).seconds, 1.08, 1e-6) << "a leap of years";
    EXPECT_NEAR(time.next(1e9).seconds, 1.12, 1e-6) << "a clock that stands";
}

}  // namespace
}  // namespace framewire::jobs
