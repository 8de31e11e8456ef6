#include "framewire/filters/pad/pad.hpp"

#include "framewire/filters/pad/pad_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire {
namespace pad_test {

using PadTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(PadTest);

TEST_P(PadTest, EqualsTheFormula) {
    // A gray image gets the color's weighted gray: (3735 * 255 + 19235 * 165 + 9798 * 10 + 2^14) >> 15.
    for (const auto& [channels, color] : {std::pair{3, pixel_of(255, 165, 10)}, {1, gray_pixel(129)}}) {
        kit::check_filter(
            GetParam(),
            {.info = pad_info(),
             .values = {{"w", "iw+13"}, {"h", "ih*2"}, {"x", "5"}, {"y", "ih-1"}, {"color", "#0aa5ff"}},
             .channels = channels,
             .reference = [color = color](const FilterImages<MemorySpace::host>& images) {
                 const auto& in = images.in.shape();
                 pad_reference({in.width + 13, 2 * in.height, 5, in.height - 1, color}, images.in, images.out);
             }});
        kit::check_filter(GetParam(), {.info = pad_info(),
                                       .values = {},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           copy(images.in, images.out);
                                       }});
    }
}

// As in FFmpeg, 0 keeps a side, and negative positions mean the middle.
TEST(Pad, NegativePositionsMeanTheMiddle) {
    const auto info = pad_info();
    const Shape shape{1, 4, 6, 1};
    HostImage in(shape), out({1, 4, 11, 1}), want({1, 4, 11, 1});
    kit::fill(in.view(), kit::Fill::noise);
    const auto values = with_defaults(info, {{"w", "11"}, {"h", "0"}, {"x", "-1"}, {"y", "-1"}, {"color", "white"}});
    EXPECT_EQ(info.output_shape(values, shape), (Shape{1, 4, 11, 1}));
    info.make(values, shape, kit::executor(Backend::cpu))
        ->run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    pad_reference({11, 4, 2, 0, gray_pixel(255)}, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(Pad, RejectsWhatDoesNotFit) {
    const auto info = pad_info();
    const Shape shape{1, 48, 64, 3};
    const auto refusal = [&](std::initializer_list<std::pair<std::string, std::string>> values) {
        try {
            info.output_shape(with_defaults(info, values), shape);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal({{"w", "70"}, {"x", "7"}}), "the image of 64x48 at 7,0 is not inside pad's 70x48");
    EXPECT_EQ(refusal({{"w", "16385"}}), "pad's result is 16385x48; allowed are sides of 1 to 16384 pixels");
    EXPECT_NE(refusal({{"w", "40"}}), "taken");
    EXPECT_NE(refusal({{"w", "40"}, {"x", "-1"}}), "taken");
    EXPECT_NE(refusal({{"x", "999999999"}}), "taken");
    EXPECT_EQ(refusal({{"color", "red@0.5"}}), "color 'red@0.5' has an alpha; there is nothing behind it here");
    EXPECT_NE(refusal({{"color", "rde"}}), "taken");
}

}  // namespace pad_test
}  // namespace framewire
