#include "framewire/session/hog/steps/step_frames.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace framewire::session {
namespace step_frames_test {

TEST(StepFrames, ParsesNumbersAndRanges) {
    const StepFrames frames("20-22,0,10");
    std::vector<std::int64_t> all;
    frames.for_each([&](std::int64_t frame) { all.push_back(frame); });
    EXPECT_EQ(all, (std::vector<std::int64_t>{0, 10, 20, 21, 22}));
    EXPECT_TRUE(frames.contains(21));
    EXPECT_FALSE(frames.contains(11));
    EXPECT_FALSE(frames.contains(23));
    EXPECT_FALSE(frames.empty());
    EXPECT_TRUE(StepFrames().empty());
    EXPECT_TRUE(StepFrames("0-9999").contains(9999));
}

TEST(StepFrames, RejectsInvalidTexts) {
    for (const auto* text : {"", ",", "1,", "a", "-1", "3-2", "1-", "1-2-3", "1 2", "1,1", "5,3-7", "0-10000",
                             "0-5999,6000-11999", "0-9223372036854775807", "99999999999999999999"})
        EXPECT_THROW(StepFrames{text}, Error) << text;
}

}  // namespace step_frames_test
}  // namespace framewire::session
