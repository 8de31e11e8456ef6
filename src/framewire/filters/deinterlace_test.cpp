#include "framewire/filters/deinterlace.hpp"
#include "framewire/filters/deinterlace_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace {

using DeinterlaceTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(DeinterlaceTest);

constexpr const char* method_names[]{"adaptive", "linear", "blend"};

TEST_P(DeinterlaceTest, MatchesTheFormula) {
    for (const auto method : {DeinterlaceMethod::adaptive, DeinterlaceMethod::linear, DeinterlaceMethod::blend})
        for (const bool bottom : {false, true})
            for (const int threshold : {10, 100}) {
                if (method != DeinterlaceMethod::adaptive && threshold != 10) continue;
                kit::check_filter(GetParam(), {.info = deinterlace_info(),
                                               .values = {{"method", method_names[static_cast<int>(method)]},
                                                          {"keep", bottom ? "bottom" : "top"},
                                                          {"threshold", std::to_string(threshold)}},
                                               .channels = bottom ? 1 : 3,
                                               .reference = [=](const FilterImages<MemorySpace::host>& images) {
                                                   deinterlace_reference({method, bottom, threshold}, images.in,
                                                                         images.previous, images.out, false);
                                               }});
            }
}

// A static bar next to one that moves between the two fields.
TEST(Deinterlace, KeepsStaticLinesAndInterpolatesMovingOnes) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 8, 16, 1};
    HostImage previous(shape), now(shape), out(shape);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) {
            const int line = y == 3 ? 200 : 20;  // a thin static line
            previous.view().row(0, y)[x] = static_cast<std::uint8_t>(x < 8 ? line : 50);
            const bool moved = y % 2 == 1;  // the second field was captured later
            now.view().row(0, y)[x] = static_cast<std::uint8_t>(x < 8 ? line : moved ? 150 : 50);
        }
    Deinterlace deinterlace({}, shape, executor);
    deinterlace.run(FilterImages<MemorySpace::host>{now.view(), previous.view(), out.view()});
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) EXPECT_EQ(out.view().row(0, y)[x], x < 8 ? (y == 3 ? 200 : 20) : 50) << x << y;
}

TEST(Deinterlace, InterpolatesTheFirstFrameEverywhere) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{2, 9, 13, 3};
    HostImage in(shape), out(shape), want(shape);
    kit::fill(in.view(), kit::Fill::noise, 1);
    Deinterlace deinterlace({}, shape, executor);
    deinterlace.run(FilterImages<MemorySpace::host>{in.view(), in.view(), out.view()});
    deinterlace_reference({}, in.view(), in.view(), want.view(), true);
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(Deinterlace, RejectsInvalidThresholdsAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Deinterlace({.threshold = -1}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Deinterlace({.threshold = 256}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Deinterlace({}, {1, 4, 4, 2}, executor), Error);
}

}  // namespace
}  // namespace framewire
