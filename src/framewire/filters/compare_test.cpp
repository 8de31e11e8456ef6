#include "framewire/filters/compare.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace framewire {
namespace {

using CompareTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(CompareTest);

constexpr CompareMode all_modes[]{CompareMode::left, CompareMode::right, CompareMode::above, CompareMode::below,
                                  CompareMode::split};
constexpr const char* mode_names[]{"left", "right", "above", "below", "split"};

TEST_P(CompareTest, MatchesTheFormula) {
    for (const auto mode : all_modes)
        for (const int at : {0, 33, 50, 100}) {
            if (mode != CompareMode::split && at != 50) continue;
            kit::check_filter(GetParam(),
                              {.info = compare_info(),
                               .values = {{"mode", mode_names[static_cast<int>(mode)]}, {"at", std::to_string(at)}},
                               .channels = at == 33 ? 1 : 3,
                               .reference = [=](const FilterImages<MemorySpace::host>& images) {
                                   compare_reference({mode, at}, images.in, images.original, images.out);
                               }});
        }
}

// Combines images of different sizes and channels, in both orders.
TEST_P(CompareTest, CombinesDifferentSizesAndChannels) {
    auto& executor = kit::executor(GetParam());
    const Shape shapes[]{{2, 7, 5, 3}, {2, 7, 5, 1}, {2, 3, 19, 3}, {2, 33, 2, 1}};
    for (const auto& mine : shapes)
        for (const auto& first : shapes)
            for (const auto mode : all_modes)
                for (const auto& layout : kit::layouts()) {
                    const bool one_size = mine.width == first.width && mine.height == first.height;
                    if (mode == CompareMode::split && !one_size) continue;
                    SCOPED_TRACE(fmt::format("{} with {}, {}", to_string(mine), to_string(first),
                                             mode_names[static_cast<int>(mode)]));
                    const Compare compare({mode}, mine, first, executor);
                    kit::GuardedImage in(mine, layout), original(first, layout), out(compare.output_shape(), layout);
                    kit::fill(in.view(), kit::Fill::noise, 1);
                    kit::fill(original.view(), kit::Fill::noise, 2);
                    HostImage want(compare.output_shape());
                    compare_reference({mode}, in.view(), original.view(), want.view());
                    if (executor.backend() == Backend::cpu) {
                        compare.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view(), original.view()});
                    } else if constexpr (cuda::compiled) {
                        kit::DeviceMirror device_in(in), device_original(original), device_out(out);
                        for (auto* mirror : {&device_in, &device_original, &device_out})
                            mirror->upload(executor.stream());
                        compare.run(FilterImages<MemorySpace::device>{
                            device_in.view(), {}, device_out.view(), device_original.view()});
                        device_out.download(executor.stream());
                    }
                    ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
                    ASSERT_EQ(out.broken_guard(), std::nullopt);
                }
}

TEST(Compare, RejectsInvalidParametersAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 4, 3};
    EXPECT_THROW(Compare({CompareMode::split}, shape, {1, 4, 5, 3}, executor), Error);
    EXPECT_THROW(Compare({CompareMode::split, -1}, shape, shape, executor), Error);
    EXPECT_THROW(Compare({CompareMode::split, 101}, shape, shape, executor), Error);
    try {
        // The width times this percentage does not fit an int.
        Compare({CompareMode::split, std::numeric_limits<int>::max()}, shape, {1, 4, 5, 3}, executor);
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "compare is split at 2147483647 %; allowed: 0 to 100");
    }
    EXPECT_THROW(Compare({}, shape, {2, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Compare({}, {1, 4, max_side_px, 3}, shape, executor), Error);
}

}  // namespace
}  // namespace framewire
