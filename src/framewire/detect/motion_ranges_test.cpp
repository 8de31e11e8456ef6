#include "framewire/detect/motion_ranges.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace framewire {
namespace {

const Component object{.id = 1, .x = 10, .y = 20, .width = 5, .height = 4, .area = 17, .sum_x = 0, .sum_y = 0};

// Returns the ranges of frames at 10 frames per second, in which a # has an object.
std::vector<MotionRange> ranges_of(std::string_view frames, const MotionRangeRules& rules) {
    MotionRanges ranges(rules);
    for (std::size_t frame = 0; frame < frames.size(); ++frame)
        ranges.add(static_cast<std::int64_t>(frame), 0.1 * static_cast<double>(frame),
                   {&object, frames[frame] == '#' ? std::size_t{1} : 0});
    return ranges.finish();
}

std::string marked(std::string_view frames, const MotionRangeRules& rules) {
    std::string marks(frames.size(), '.');
    for (const auto& range : ranges_of(frames, rules))
        for (auto frame = range.begin_frame; frame <= range.end_frame; ++frame)
            marks[static_cast<std::size_t>(frame)] = '#';
    return marks;
}

TEST(MotionRanges, BeginAfterConsecutiveFramesAndEndAfterTheGap) {
    const MotionRangeRules rules{.after_frames = 3, .gap_seconds = 0.45};
    EXPECT_EQ(marked("..##..##.#..", rules), "............");
    EXPECT_EQ(marked("..###.......", rules), "..###.......");
    EXPECT_EQ(marked("..###...#...", rules), "..#######...");
    EXPECT_EQ(marked("..###....##.", rules), "..###.......") << "two frames after the gap are not a range";
    EXPECT_EQ(marked("###.....####", rules), "###.....####");
    EXPECT_EQ(ranges_of("###.....####", rules).size(), 2u);
}

TEST(MotionRanges, DropsShortRanges) {
    const MotionRangeRules rules{.after_frames = 1, .gap_seconds = 0, .min_seconds = 0.25};
    EXPECT_EQ(marked("#..##..###..####", rules), "............####");
}

TEST(MotionRanges, DescribeWhatMoved) {
    MotionRanges ranges({.after_frames = 2, .gap_seconds = 1, .min_seconds = 0});
    auto other = object;
    other.x = 40;
    other.y = 3;
    other.area = 20;
    const std::vector<Component> both{object, other};
    ranges.add(7, 1.5, {&object, 1});
    ranges.add(8, 1.6, both);
    ranges.skip();
    const auto found = ranges.finish();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front(), (MotionRange{1.5, 1.6, 7, 8, 2, {10, 3, 35, 21}, 2, 20}));
}

// skip() stands for any number of frames without objects.
TEST(MotionRanges, SkippingFramesIsTheSameAsAddingThem) {
    std::mt19937 random(5);
    for (int turn = 0; turn < 200; ++turn) {
        MotionRanges added({.after_frames = 2, .gap_seconds = 0.3}), skipped({.after_frames = 2, .gap_seconds = 0.3});
        for (int frame = 0; frame < 100; ++frame) {
            const auto objects = std::span(&object, random() % 3 == 0 ? std::size_t{1} : 0);
            added.add(frame, 0.1 * frame, objects);
            objects.empty() ? skipped.skip() : skipped.add(frame, 0.1 * frame, objects);
        }
        EXPECT_EQ(added.finish(), skipped.finish());
    }
}

TEST(MotionRanges, RefusesImpossibleRules) {
    EXPECT_THROW(MotionRanges({.after_frames = 0}), Error);
    EXPECT_THROW(MotionRanges({.gap_seconds = -1}), Error);
    EXPECT_THROW(MotionRanges({.min_seconds = -1}), Error);
}

}  // namespace
}  // namespace framewire
