#include "framewire/session/events/motion_state.hpp"

#include <gtest/gtest.h>

namespace framewire::session {
namespace motion_state_test {

using namespace std::chrono_literals;

const Clock::time_point start{};

TEST(MotionState, BeginsAfterConsecutiveFrames) {
    MotionState motion({.after_frames = 3, .hold = 5s});
    EXPECT_FALSE(motion.seen(start, true));
    EXPECT_FALSE(motion.seen(start + 1s, true));
    EXPECT_FALSE(motion.seen(start + 2s, false)) << "they are counted anew";
    EXPECT_FALSE(motion.seen(start + 3s, true));
    EXPECT_FALSE(motion.seen(start + 4s, true));
    EXPECT_FALSE(motion.ends());
    EXPECT_TRUE(motion.seen(start + 5s, true));
    EXPECT_TRUE(motion.on());
    EXPECT_FALSE(motion.seen(start + 6s, true)) << "it is ON already";
}

TEST(MotionState, EndsAfterTheHoldTime) {
    MotionState motion({.after_frames = 1, .hold = 5s});
    EXPECT_FALSE(motion.end(start + 100s)) << "there was none";
    EXPECT_TRUE(motion.seen(start + 1s, true));
    EXPECT_EQ(motion.ends(), start + 6s);
    EXPECT_FALSE(motion.seen(start + 4s, true));
    EXPECT_FALSE(motion.seen(start + 8s, false));
    EXPECT_FALSE(motion.end(start + 8s)) << "from the last frame with objects on";
    EXPECT_TRUE(motion.end(start + 9s));
    EXPECT_FALSE(motion.on());
    EXPECT_FALSE(motion.end(start + 9s));
}

TEST(MotionState, EndsAtOnceOnRequest) {
    MotionState motion({.after_frames = 1, .hold = 5s});
    EXPECT_FALSE(motion.end(start, true));
    EXPECT_TRUE(motion.seen(start, true));
    EXPECT_TRUE(motion.end(start, true));
}

}  // namespace motion_state_test
}  // namespace framewire::session
