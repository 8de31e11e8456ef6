#include "framewire/filters/scale.hpp"
#include "framewire/filters/geometry_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace framewire {
namespace {

using ScaleTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ScaleTest);

struct NamedMethod {
    ScaleMethod method;
    const char* name;
};
constexpr NamedMethod methods[] = {{ScaleMethod::area, "area"},
                                   {ScaleMethod::bilinear, "bilinear"},
                                   {ScaleMethod::bicubic, "bicubic"},
                                   {ScaleMethod::lanczos, "lanczos"}};

using Reference = void (*)(ScaleMethod, HostView<const std::uint8_t>, HostView<std::uint8_t>);

void check(Backend backend, NamedMethod method, const char* w, const char* h, int channels,
           std::vector<Shape> shapes = {}, Reference reference = scale_reference, int tolerance = 0) {
    kit::check_filter(backend, {.info = scale_info(),
                                .values = {{"w", w}, {"h", h}, {"method", method.name}},
                                .channels = channels,
                                .reference =
                                    [=](const FilterImages<MemorySpace::host>& images) {
                                        reference(method.method, images.in, images.out);
                                    },
                                .tolerance = tolerance,
                                .shapes = std::move(shapes)});
}

std::vector<Shape> few_shapes(int channels) {
    return {{1, 1, 1, channels}, {2, 3, 5, channels}, {1, 37, 101, channels}, {1, 131, 9, channels}};
}

TEST_P(ScaleTest, MatchesTheFixedPointFormulaForEveryShape) {
    check(GetParam(), methods[2], "(iw+1)/2", "ih*2/3+1", 3);
    check(GetParam(), methods[2], "iw*3/4+1", "ih*2", 1);
}

TEST_P(ScaleTest, MatchesTheFixedPointFormulaForEveryMethod) {
    for (const auto& method : methods)
        for (const int channels : {3, 1}) {
            check(GetParam(), method, "iw", "ih", channels, few_shapes(channels));
            check(GetParam(), method, "(iw+2)/3", "(ih+4)/5", channels, few_shapes(channels));
            check(GetParam(), method, "iw*2+1", "ih*3+2", channels, few_shapes(channels));
            check(GetParam(), method, "(iw+9)/10", "ih*4", channels, few_shapes(channels));
        }
}

// Tests windows that contain the whole image, and many pixels that share one source pixel.
TEST_P(ScaleTest, MatchesTheFixedPointFormulaForExtremeSizes) {
    for (const auto& method : methods)
        for (const int channels : {3, 1}) {
            check(GetParam(), method, "1", "1", channels, {{1, 100, 333, channels}, {1, 1, 2, channels}});
            check(GetParam(), method, "500", "1", channels, {{1, 7, 3, channels}, {2, 40, 1, channels}});
            check(GetParam(), method, "17", "300", channels, {{1, 2, 900, channels}});
        }
}

// Tests several tiles of 1024 pixels with a partial last one, and scale factors near the limit at which neighbours are
// too far apart for blocks of four.
TEST_P(ScaleTest, MatchesTheFixedPointFormulaForWideImages) {
    for (const auto& method : methods)
        for (const int channels : {3, 1}) {
            check(GetParam(), method, "iw/2", "ih/2", channels, {{1, 20, 2050, channels}, {1, 9, 4097, channels}});
            check(GetParam(), method, "iw*4/3", "ih*4/3", channels, {{1, 11, 1033, channels}, {2, 7, 2111, channels}});
            for (const char* w : {"iw*10/21", "iw*10/23", "iw*10/25"})
                check(GetParam(), method, w, "ih", channels, {{1, 3, 2200, channels}});
        }
}

TEST_P(ScaleTest, DiffersFromTheFormulaByAtMostOne) {
    for (const auto& method : methods)
        for (const auto& [w, h] : {std::pair{"iw*2/3", "ih/2"}, {"iw*2", "ih*3/2"}, {"iw/7", "ih/9"}})
            check(GetParam(), method, w, h, 3, {{1, 67, 91, 3}}, scale_formula, 1);
}

TEST(ScaleAxis, WeightsSumToOneAndStayInsideTheImage) {
    for (const auto& method : methods)
        for (const auto& [from, to] :
             {std::pair{1, 1}, {1, 9}, {9, 1}, {16, 16}, {640, 427}, {427, 640}, {1000, 3}, {16384, 7}})
            for (const int multiple : {1, 2, 8}) {
                SCOPED_TRACE(fmt::format("{} from {} to {}", method.name, from, to));
                const auto axis = scale_axis(scale_taps(method.method, {from, to}), multiple);
                ASSERT_EQ(axis.stride % multiple, 0);
                for (int index = 0; index < to; ++index) {
                    const auto* weights = axis.weights_of(index);
                    ASSERT_EQ(std::accumulate(weights, weights + axis.stride, 0), 1 << scale_weight_bits);
                    const int first = axis.first[static_cast<std::size_t>(index)];
                    ASSERT_GE(first, 0);
                    for (int tap = std::max(from - first, 0); tap < axis.stride; ++tap) ASSERT_EQ(weights[tap], 0);
                }
            }
}

// Every method leaves an image of the same size unchanged.
TEST(ScaleAxis, SameSizeKeepsEveryPixel) {
    for (const auto& method : methods) {
        const auto axis = scale_axis(scale_taps(method.method, {100, 100}), 1);
        EXPECT_EQ(axis.taps, 1);
        for (int index = 0; index < 100; ++index) EXPECT_EQ(axis.first[static_cast<std::size_t>(index)], index);
    }
}

// Compares the kernels with known values.
TEST(ScaleAxis, MatchesKnownWeights) {
    const auto twice = exact_scale_taps(ScaleMethod::bilinear, {4, 8}, 3);  // its center is at 1.25
    ASSERT_EQ(twice.first, 1);
    EXPECT_NEAR(twice.weights.at(0), 0.75, 1e-12);
    EXPECT_NEAR(twice.weights.at(1), 0.25, 1e-12);
    const auto between = exact_scale_taps(ScaleMethod::bicubic, {9, 3}, 1);
    EXPECT_EQ(between.first + static_cast<int>(between.weights.size() / 2), 4) << "around the middle pixel";
    const auto half = exact_scale_taps(ScaleMethod::area, {3, 2}, 0);
    ASSERT_EQ(half.first, 0);
    EXPECT_NEAR(half.weights.at(0), 2 / 3.0, 1e-12);
    EXPECT_NEAR(half.weights.at(1), 1 / 3.0, 1e-12);
    // The center is at -0.25: the part of the window outside the image counts for pixel 0.
    const auto edge = exact_scale_taps(ScaleMethod::bilinear, {4, 8}, 0);
    ASSERT_EQ(edge.first, 0);
    EXPECT_NEAR(edge.weights.at(0), 1, 1e-12);
}

// Chroma is sited on the left pixel, in a plane of half the width, so its center is a quarter of a sample to the left.
TEST(ScaleAxis, MatchesKnownWeightsForShiftedSamples) {
    const ScaleGrid left(8, 4, 16, 8, -1, -1);
    const auto between = exact_scale_taps(ScaleMethod::bilinear, {8, 8, 1, 1, 0, -1}, 3);  // a quarter before sample 3
    ASSERT_EQ(between.first, 2);
    EXPECT_NEAR(between.weights.at(0), 0.25, 1e-12);
    EXPECT_NEAR(between.weights.at(1), 0.75, 1e-12);
    const auto covered = exact_scale_taps(ScaleMethod::area, left, 1);  // from 1.75 to 3.75
    ASSERT_EQ(covered.first, 1);
    EXPECT_NEAR(covered.weights.at(0), 0.125, 1e-12);
    EXPECT_NEAR(covered.weights.at(1), 0.5, 1e-12);
    EXPECT_NEAR(covered.weights.at(2), 0.375, 1e-12);
    // The area starts at -0.25: the first sample counts for the part outside the image.
    const auto rim = exact_scale_taps(ScaleMethod::area, left, 0);
    ASSERT_EQ(rim.first, 0);
    EXPECT_NEAR(rim.weights.at(0), 0.625, 1e-12);
    const auto outside = exact_scale_taps(ScaleMethod::area, {8, 8, 1, 1, 0, 100}, 3);
    EXPECT_EQ(outside.first, 7);
    EXPECT_EQ(outside.weights, std::vector<double>{1});
}

// Detail finer than the result's pixels is averaged and does not alias: stripes that are one pixel wide become gray.
TEST(ScaleAxis, ShrinkingDoesNotAlias) {
    const Shape shape{1, 96, 960, 1};
    HostImage in(shape), out({1, 32, 320, 1});
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) in.view().row(0, y)[x] = x % 2 ? 255 : 0;
    for (const auto& method : methods) {
        if (method.method == ScaleMethod::area)
            continue;  // a box covers three pixels, so one stripe counts more than the other
        scale_reference(method.method, in.view(), out.view());
        for (int x = 8; x < 312; ++x) EXPECT_NEAR(out.view().row(0, 16)[x], 127.5, 16) << method.name << ", " << x;
    }
}

TEST(Scale, DerivesOneSideFromTheOther) {
    const auto info = scale_info();
    const auto size = [&](std::initializer_list<std::pair<std::string, std::string>> values, int width, int height) {
        const auto shape = info.output_shape(with_defaults(info, values), {2, height, width, 3});
        EXPECT_EQ(shape.frames, 2);
        EXPECT_EQ(shape.channels, 3);
        return fmt::format("{}x{}", shape.width, shape.height);
    };
    EXPECT_EQ(size({{"w", "640"}}, 768, 576), "640x480");
    EXPECT_EQ(size({{"h", "240"}}, 768, 576), "320x240");
    EXPECT_EQ(size({{"w", "50%"}}, 768, 576), "384x288");
    EXPECT_EQ(size({{"w", "iw/2"}, {"h", "ih"}}, 768, 576), "384x576");
    EXPECT_EQ(size({{"w", "0"}, {"h", "100"}}, 768, 576), "768x100");
    EXPECT_EQ(size({{"w", "500"}, {"h", "-1"}}, 1920, 1080), "500x281");
    EXPECT_EQ(size({{"w", "500"}, {"h", "-2"}}, 1920, 1080), "500x282");
    EXPECT_EQ(size({{"w", "-8"}, {"h", "100"}}, 1920, 1080), "176x100");
    EXPECT_EQ(size({{"w", "10"}, {"h", "-2"}}, 10000, 10), "10x2") << "never 0";
}

TEST(Scale, RejectsInvalidSizes) {
    const auto info = scale_info();
    const auto refusal = [&](std::initializer_list<std::pair<std::string, std::string>> values) {
        try {
            info.output_shape(with_defaults(info, values), {1, 480, 640, 3});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal({}), "w and h each depend on the other; set at least one of them");
    EXPECT_EQ(refusal({{"w", "16385"}}), "scale's result is 16385x12289; allowed: sides of 1 to 16384 pixels");
    EXPECT_EQ(refusal({{"w", "-257"}, {"h", "5"}}), "w '-257' is -257; allowed: a size, 0, or -1 to -256");
    EXPECT_NE(refusal({{"w", "1000000000"}}), "taken");
    EXPECT_NE(refusal({{"w", "1"}, {"h", "99999999"}}), "taken");
    EXPECT_EQ(refusal({{"w", "half"}}).find("w 'half'"), 0u);
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Scale({0, 5}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Scale({5, 5}, {1, 4, 4, 2}, executor), Error);
    const Scale scale({5, 5}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), out({1, 5, 4, 3});
    EXPECT_THROW(scale.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()}), Error);
}

}  // namespace
}  // namespace framewire
