#include "framewire/hog/near_levels.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/hog/hog.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace framewire {
namespace {

// Returns an image with `range` gray values, starting with `darkest`.
HostImage gray_image(const Shape& shape, int darkest, int range, std::uint64_t seed) {
    HostImage image(shape);
    kit::fill(image.view(), kit::Fill::noise, seed);
    auto* const values = image.view().data();
    for (std::int64_t at = 0; at < shape.frame_bytes(); ++at)
        values[at] = static_cast<std::uint8_t>(darkest + values[at] * range / 256);
    return image;
}

HogLevels levels_of(const HostImage& image) {
    Histogram counts;
    count_gray(image.view(), 0, image.shape().height, nullptr, 0, counts);
    return hog_levels(counts);
}

std::vector<int> numbers(const HogLevels& levels) { return {levels.low, levels.mid, levels.high, levels.largest}; }

TEST(NearLevels, MatchTheHistogramOrAreEmpty) {
    kit::for_each_instruction_set(Backend::cpu, [](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int width : {1, 63, 64, 131, 16384})  // more vectors than a byte can count
            for (const auto& [darkest, range] : {std::pair(0, 256), {0, 1}, {0, 9}, {255, 1}, {240, 16}, {90, 40}})
                for (int off = -12; off <= 12; ++off) {
                    const auto image = gray_image({1, 3, width, 1}, darkest, range, 7);
                    const auto want = levels_of(image);
                    const auto moved = [&](int level) { return std::clamp(level + off / 4 * 4, 0, 252); };
                    const HogNearLevels near({moved(want.low), moved(want.mid), moved(want.high), 1});
                    HogNearCounts counts, row;
                    for (int y = 0; y < 2; ++y) near.count(image.view().row(0, y), width, counts);
                    near.count(image.view().row(0, 2), width, row);
                    counts.add(row);
                    const auto found = near.found(counts, static_cast<std::uint64_t>(3 * width));
                    if (std::abs(off) < 8) {
                        ASSERT_TRUE(found) << "width " << width << ", from " << darkest << ", off by " << off;
                    }
                    if (found) {
                        ASSERT_EQ(numbers(*found), numbers(want));
                    }
                    if (range == 40 && off == 12) {
                        ASSERT_FALSE(found);
                    }
                }
    });
}

// The levels that a plan keeps from the previous frame must not change any bit of the next descriptors, whether frames
// are BGR or already gray.
TEST(NearLevels, DoNotChangeDescriptors) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 90, 200, 3};
    const auto describe = [&](Hog& plan, HostView<const std::uint8_t> image) {
        std::vector<float> out(static_cast<std::size_t>(plan.output_shape().count()));
        plan.run(image, HogView<float, MemorySpace::host>(out.data(), plan.output_shape()));
        return out;
    };
    Hog from_gray({}, shape, executor), from_bgr({}, shape, executor), of_gray({}, shape.with_channels(1), executor);
    std::uint64_t seed = 0;
    for (const auto& [darkest, range] :
         {std::pair(0, 256), {2, 250}, {0, 30}, {0, 32}, {200, 56}, {0, 1}, {255, 1}, {254, 2}, {10, 200}}) {
        SCOPED_TRACE(darkest * 1000 + range);
        const auto gray = gray_image(shape.with_channels(1), darkest, range, ++seed);
        HostImage bgr(shape);
        for (std::int64_t at = 0; at < shape.frame_bytes(); ++at) bgr.view().data()[at] = gray.view().data()[at / 3];
        // In the second round the levels are known.
        for (int round = 0; round < 2; ++round) {
            Hog fresh({}, shape, executor);
            const auto want = describe(fresh, bgr.view());
            EXPECT_EQ(describe(from_bgr, bgr.view()), want);
            EXPECT_EQ(describe(from_gray, gray.view()), want);
            EXPECT_EQ(describe(of_gray, gray.view()), want);
        }
    }
}

}  // namespace
}  // namespace framewire
