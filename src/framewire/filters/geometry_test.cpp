#include "framewire/filters/geometry.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/geometry_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire {
namespace {

constexpr MeasureNames of_input{640, 481};
constexpr MeasureNames of_both{640, 481, 100, 51};

// Returns the value of a measure. Percentages refer to `whole`.
int in_pixels(std::string_view text, const MeasureNames& names = of_input, int whole = 640) {
    return measure(text, "w", whole, names);
}

// Returns the message of the error that a measure causes.
std::string refusal(std::string_view text, const MeasureNames& names = of_input) {
    try {
        const int value = in_pixels(text, names);
        ADD_FAILURE() << "'" << text << "' was accepted as " << value;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    return {};
}

TEST(Measure, EvaluatesFfmpegNotation) {
    EXPECT_EQ(in_pixels("320"), 320);
    EXPECT_EQ(in_pixels("-2"), -2);
    EXPECT_EQ(in_pixels("iw/2"), 320);
    EXPECT_EQ(in_pixels("in_h"), 481);
    EXPECT_EQ(in_pixels("(ow-iw)/2", of_both), -270);
    EXPECT_EQ(in_pixels("out_w + 2 * oh", of_both), 202);
    EXPECT_EQ(in_pixels(" 2*( 3 + -1 ) "), 4);
    EXPECT_EQ(in_pixels("10-3-2"), 5);
    EXPECT_EQ(in_pixels("100/10/5"), 2);
    EXPECT_EQ(in_pixels("1.5e2"), 150);
}

TEST(Measure, PercentagesReferToTheImage) {
    EXPECT_EQ(in_pixels("50%"), 320);
    EXPECT_EQ(in_pixels("50%", of_input, 37), 18);
    EXPECT_EQ(in_pixels("12.5% + 1"), 81);
}

// Results are rounded as in FFmpeg, but 29% of 100 is 29, although the double is slightly smaller.
TEST(Measure, RoundsTowardsZero) {
    EXPECT_EQ(in_pixels("ih/2"), 240);
    EXPECT_EQ(in_pixels("-ih/2"), -240);
    EXPECT_EQ(in_pixels("0.29*100"), 29);
    EXPECT_EQ(in_pixels("29%", of_input, 100), 29);
    EXPECT_EQ(in_pixels("0.99"), 0);
}

TEST(Measure, RejectsInvalidMeasures) {
    for (const auto* text :
         {"",    " ",   "x",  "iw/",  "/2",    "(iw", "iw)",         "2 3",  "iwih",  "50%%", "1,5",
          "nan", "inf", "--", "iw/0", "-iw/0", "0/0", "1e300*1e300", "1e10", "1e400", "#",    "50 % 2"})
        EXPECT_FALSE(refusal(text).empty());
    EXPECT_EQ(refusal("iw+ow"),
              "w 'iw+ow': 'ow' is neither a number nor a known name; allowed: pixels (320), percentages (50%) and "
              "expressions like iw/2 with + - * / ( ) and the names iw, ih");
    EXPECT_NE(refusal("ow+", of_both).find("its end is neither a number nor a known name"), std::string::npos);
    EXPECT_EQ(refusal("1e10"), "w '1e10' is 10000000000, which is not a valid length");
}

// Clients may send text with any depth of nesting.
TEST(Measure, RejectsDeepNesting) {
    const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '('); };
    EXPECT_EQ(in_pixels(nested(20) + "7" + std::string(20, ')')), 7);
    EXPECT_NE(refusal(nested(100'000)).find("is nested too deeply"), std::string::npos);
    EXPECT_NE(refusal(std::string(100'000, '-')).find("is nested too deeply"), std::string::npos);
}

using CropTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(CropTest);

TEST_P(CropTest, MatchesTheFormula) {
    for (const int channels : {3, 1}) {
        kit::check_filter(
            GetParam(),
            {.info = crop_info(),
             .values = {{"w", "(iw+1)/2"}, {"h", "ih-(ih-1)/3"}, {"x", "iw/4"}, {"y", "ih-oh"}},
             .channels = channels,
             .reference = [](const FilterImages<MemorySpace::host>& images) {
                 const auto& in = images.in.shape();
                 const auto& out = images.out.shape();
                 crop_reference({in.width / 4, in.height - out.height, out.width, out.height}, images.in, images.out);
             }});
        // The defaults select the whole image.
        kit::check_filter(GetParam(), {.info = crop_info(),
                                       .values = {},
                                       .channels = channels,
                                       .reference = [](const FilterImages<MemorySpace::host>& images) {
                                           copy(images.in, images.out);
                                       }});
    }
}

TEST(Crop, TakesTheMiddleByDefault) {
    const auto info = crop_info();
    const Shape shape{1, 4, 6, 1};
    auto& executor = kit::executor(Backend::cpu);
    HostImage in(shape), out({1, 2, 3, 1}), want({1, 2, 3, 1});
    kit::fill(in.view(), kit::Fill::noise);
    const auto values = with_defaults(info, {{"w", "50%"}, {"h", "50%"}});
    EXPECT_EQ(info.output_shape(values, shape), (Shape{1, 2, 3, 1}));
    info.make(values, shape, executor)->run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    crop_reference({1, 1, 3, 2}, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(Crop, RejectsRectanglesOutsideTheImage) {
    const auto info = crop_info();
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
    EXPECT_EQ(refusal({{"w", "65"}}), "the 65x48 crop at 0,0 is not inside the 64x48 image");
    EXPECT_EQ(refusal({{"w", "40"}, {"x", "25"}}), "the 40x48 crop at 25,0 is not inside the 64x48 image");
    for (const auto* w : {"0", "-1", "1000000000", "iw+1"}) EXPECT_NE(refusal({{"w", w}}), "taken") << w;
    for (const auto* y : {"-1", "1", "999999999"}) EXPECT_NE(refusal({{"y", y}}), "taken") << y;
    EXPECT_EQ(refusal({{"x", "ox"}}).find("x 'ox'"), 0u);
    EXPECT_THROW(crop({0, 0, 1, 1}, shape.with_channels(2), kit::executor(Backend::cpu)), Error);
}

using FlipTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FlipTest);

TEST_P(FlipTest, MatchesTheFormula) {
    struct Case {
        const char* direction;
        FlipParameters parameters;
    };
    for (const Case& one :
         {Case{"horizontal", {true, false}}, Case{"vertical", {false, true}}, Case{"both", {true, true}}})
        for (const int channels : {3, 1})
            kit::check_filter(GetParam(), {.info = flip_info(),
                                           .values = {{"direction", one.direction}},
                                           .channels = channels,
                                           .reference = [&](const FilterImages<MemorySpace::host>& images) {
                                               flip_reference(one.parameters, images.in, images.out);
                                           }});
}

TEST(Flip, RejectsInvalidShapes) {
    EXPECT_THROW(flip({}, {1, 4, 4, 2}, kit::executor(Backend::cpu)), Error);
    const auto plan = flip({}, {1, 4, 4, 3}, kit::executor(Backend::cpu));
    HostImage in({1, 4, 4, 3}), narrow({1, 4, 3, 3});
    EXPECT_THROW(plan.run(FilterImages<MemorySpace::host>{in.view(), {}, narrow.view()}), Error);
}

using PadTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(PadTest);

TEST_P(PadTest, MatchesTheFormula) {
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

// As in FFmpeg, 0 keeps a side, and negative positions center the image.
TEST(Pad, NegativePositionsCenterTheImage) {
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

TEST(Pad, RejectsImagesThatDoNotFit) {
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
    EXPECT_EQ(refusal({{"w", "70"}, {"x", "7"}}), "the 64x48 image at 7,0 is not inside the padded 70x48 picture");
    EXPECT_EQ(refusal({{"w", "16385"}}), "pad's result is 16385x48; allowed: sides of 1 to 16384 pixels");
    EXPECT_NE(refusal({{"w", "40"}}), "taken");
    EXPECT_NE(refusal({{"w", "40"}, {"x", "-1"}}), "taken");
    EXPECT_NE(refusal({{"x", "999999999"}}), "taken");
    EXPECT_EQ(refusal({{"color", "red@0.5"}}),
              "color 'red@0.5' has an alpha value; this filter needs an opaque colour");
    EXPECT_NE(refusal({{"color", "rde"}}), "taken");
}

}  // namespace
}  // namespace framewire
