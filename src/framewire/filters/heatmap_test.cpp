#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using HeatmapTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(HeatmapTest);

TEST_P(HeatmapTest, MatchesTheFormula) {
    for (const int channels : {3, 1})
        kit::check_filter(GetParam(), {.info = heatmap_info(),
                                       .values = {},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           heatmap_reference(images.in, images.previous, images.out);
                                       }});
}

// Tests every possible sum of differences in a row of 766 pixels.
TEST(Heatmap, MatchesTheFormulaForEverySum) {
    const Shape shape{1, 1, max_heat + 1, 3};
    HostImage in(shape), previous(shape), out(shape), want(shape);
    for (int sum = 0; sum <= max_heat; ++sum)
        for (int channel = 0; channel < 3; ++channel) {
            const auto at = 3 * sum + channel;
            previous.view().data()[at] = static_cast<std::uint8_t>(channel == 1 ? 255 : 0);
            const int difference = std::clamp(sum - 255 * channel, 0, 255);
            in.view().data()[at] = static_cast<std::uint8_t>(channel == 1 ? 255 - difference : difference);
        }
    Heatmap(shape, kit::executor(Backend::cpu))
        .run(FilterImages<MemorySpace::host>{in.view(), previous.view(), out.view()});
    heatmap_reference(in.view(), previous.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
    // The colors at the ends and in the middle are the report's: blue, green, red.
    EXPECT_EQ(heatmap_table()[0], pixel_of(255, 0, 0));
    EXPECT_EQ(heatmap_table()[382], pixel_of(1, 255, 0));
    EXPECT_EQ(heatmap_table()[383], pixel_of(0, 255, 1));
    EXPECT_EQ(heatmap_table()[max_heat], pixel_of(0, 0, 255));
}

TEST(Heatmap, RejectsInvalidShapes) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Heatmap({1, 4, 4, 2}, executor), Error);
    Heatmap heatmap({1, 4, 4, 1}, executor);
    HostImage gray({1, 4, 4, 1}), colour({1, 4, 4, 3});
    EXPECT_THROW(heatmap.run(FilterImages<MemorySpace::host>{gray.view(), gray.view(), gray.view()}), Error);
    EXPECT_THROW(heatmap.run(FilterImages<MemorySpace::host>{gray.view(), {}, colour.view()}), Error);
}

}  // namespace
}  // namespace framewire
