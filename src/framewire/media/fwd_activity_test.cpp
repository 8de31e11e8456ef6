#include "framewire/media/fwd_activity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace framewire::fwd {
namespace {

// A recording of 640 x 320 pixels, so 10 x 5 blocks, at 20 frames per second with a keyframe each second.
constexpr Shape shape{1, 320, 640, 3};
constexpr int columns = 10, blocks = 50, rate = 20;

// Sizes of one frame's blocks; 0: not coded.
using Sizes = std::vector<std::uint32_t>;

// Returns the ranges of `frames` frames whose sizes `size_of` gives.
template <class SizeOf>
std::vector<ActiveRange> ranges_of(int frames, SizeOf&& size_of,
                                   codec::BlockSet looked_at = codec::BlockSet(blocks, 1)) {
    BlockActivity activity(shape, std::move(looked_at));
    for (int frame = 0; frame < frames; ++frame) {
        std::vector<codec::BlockSize> sizes;
        for (int block = 0; block < blocks; ++block)
            if (const std::uint32_t size = size_of(frame, block); size > 0) sizes.push_back({block, size});
        activity.add(frame, frame / double{rate}, frame % rate == 0, sizes);
    }
    return activity.finish();
}

// An object in block 23 during frames 600 to 659, in addition to what `noise` returns.
template <class Noise>
auto with_object(Noise&& noise, std::uint32_t bytes) {
    return [=](int frame, int block) mutable {
        return noise(frame, block) + (block == 23 && frame >= 600 && frame < 660 ? bytes : 0u);
    };
}

void expect_the_object(const std::vector<ActiveRange>& ranges) {
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_NEAR(ranges.front().begin_seconds, 30 - BlockActivity::margin_seconds, 0.25);
    EXPECT_NEAR(ranges.front().end_seconds, 33 + BlockActivity::margin_seconds, 0.25);
    EXPECT_EQ(ranges.front().box, (Zone{3 * 64, 2 * 64, 64, 64}));
}

TEST(BlockActivity, FindsAnObjectInAStaticScene) {
    expect_the_object(ranges_of(1200, with_object([](int, int) { return 0u; }, 40)));
}

// In mode exact, noise rarely exceeds the threshold: one block of each frame codes a pixel or two.
TEST(BlockActivity, FindsAnObjectInRareNoise) {
    auto noise = [random = std::mt19937(3)](int, int) mutable {
        return random() % blocks == 0 ? 8 + 2 * static_cast<std::uint32_t>(random() % 6) : 0u;
    };
    expect_the_object(ranges_of(1200, with_object(noise, 60)));
    EXPECT_TRUE(ranges_of(1200, noise).empty());
}

// In mode lossless every block changes in every frame, by almost the same number of bytes.
TEST(BlockActivity, FindsAnObjectInBlocksThatAlwaysChange) {
    auto noise = [random = std::mt19937(4)](int, int block) mutable {
        std::normal_distribution<double> size(4000 + 50 * block, 20);
        return 2 * static_cast<std::uint32_t>(size(random) / 2);
    };
    expect_the_object(ranges_of(1200, with_object(noise, 300)));
    EXPECT_TRUE(ranges_of(1200, noise).empty());
}

// In mode lossless, the sizes of all blocks vary more than an object adds, here three standard deviations.
TEST(BlockActivity, FindsLastingChangesThatAreSmallerThanTheNoise) {
    auto noise = [random = std::mt19937(5), size = std::normal_distribution(6900.0, 25.0)](int, int) mutable {
        return static_cast<std::uint32_t>(size(random));
    };
    EXPECT_TRUE(ranges_of(6000, noise).empty());
    expect_the_object(ranges_of(1200, with_object(noise, 75)));
    auto smoother = [object = with_object(noise, 75)](int frame, int block) mutable {
        return 13800 - object(frame, block);
    };
    expect_the_object(ranges_of(1200, smoother));
}

// A block in which something moves 60 % of the time still has its usual size from the rest.
TEST(BlockActivity, FindsEveryRangeOfABusyBlock) {
    const auto busy = [](int frame, int block) { return block == 7 && frame % 500 >= 200 ? 200u : 0u; };
    EXPECT_EQ(ranges_of(2500, busy).size(), 5u);
}

TEST(BlockActivity, IgnoresKeyframesAndBlocksThatAreNotLookedAt) {
    const auto key = [](int frame, int) { return frame % rate == 0 ? 5000u : 0u; };
    EXPECT_TRUE(ranges_of(1200, key).empty());
    auto object = with_object([](int, int) { return 0u; }, 40);
    codec::BlockSet looked_at(blocks, 1);
    looked_at[23] = 0;
    EXPECT_TRUE(ranges_of(1200, object, looked_at).empty());
}

// One frame in which much changes, such as an object that appears and stays.
TEST(BlockActivity, FindsASingleLargeChange) {
    const auto once = [](int frame, int block) { return block == 23 && frame == 601 ? 900u : 0u; };
    EXPECT_EQ(ranges_of(1200, once).size(), 1u);
}

// Windows end after five minutes or when they take too much memory; ranges continue over their ends.
TEST(BlockActivity, JoinsRangesOfConsecutiveWindows) {
    constexpr int window = static_cast<int>(BlockActivity::window_seconds * rate);
    const auto object = [](int frame, int block) {
        return block == 23 && frame > window - 40 && frame < window + 40 ? 60u : 0u;
    };
    EXPECT_EQ(ranges_of(window + 400, object).size(), 1u);
}

}  // namespace
}  // namespace framewire::fwd
