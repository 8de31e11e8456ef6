#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/gpus.hpp"
#include "kit/window_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using kit::borders;
using kit::NamedBorder;
using GaussianTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(GaussianTest);

using Reference = void (*)(GaussianParameters, HostView<const std::uint8_t>, HostView<std::uint8_t>);

void check(Backend backend, GaussianParameters parameters, int channels, NamedBorder border,
           std::vector<Shape> shapes = {}, Reference reference = gaussian_reference, int tolerance = 0) {
    parameters.border = border.border;
    kit::check_filter(
        backend,
        {.info = gaussian_info(),
         .values = {{"size", std::to_string(parameters.size)},
                    {"sigma", fmt::format("{}", parameters.sigma)},
                    {"border", border.name},
                    {"rounding", parameters.rounding == GaussianRounding::opencv ? "opencv" : "fine"}},
         .channels = channels,
         .reference =
             [=](const FilterImages<MemorySpace::host>& images) { reference(parameters, images.in, images.out); },
         .tolerance = tolerance,
         .shapes = std::move(shapes)});
}

// Returns shapes smaller and larger than most windows, some with partial tiles.
std::vector<Shape> few_shapes(int channels) {
    return {{1, 1, 1, channels}, {2, 3, 5, channels}, {1, 37, 301, channels}, {1, 131, 9, channels}};
}

TEST_P(GaussianTest, MatchesTheFixedPointFormulaForEveryShape) {
    int turn = 0;
    for (const int size : {3, 5, 7, 15})
        for (const int channels : kit::channel_counts(turn++)) check(GetParam(), {.size = size}, channels, borders[0]);
}

void check_border(Backend backend, NamedBorder border) {
    int turn = static_cast<int>(border.border);
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 9, 15, 16, 31, 100})
        for (const int channels : kit::channel_counts(turn++))
            check(backend, {.size = size}, channels, border, few_shapes(channels));
}
FRAMEWIRE_TEST_EVERY_BORDER(GaussianTest, check_border)

TEST_P(GaussianTest, MatchesTheFixedPointFormulaForEverySize) {
    for (int size = 1; size <= 255; size += kit::brief() ? 31 : 1)
        check(GetParam(), {.size = size, .sigma = size % 4 == 0 ? 2.0 : 0.0}, size % 2 ? 3 : 1, borders[size % 3],
              {{1, 9, 43, size % 2 ? 3 : 1}});
}

// The sigmas range from ones so small that taps vanish to ones so large that all taps weigh the same.
TEST_P(GaussianTest, MatchesTheFixedPointFormulaForSmallAndLargeSigmas) {
    for (const double sigma : {1e-9, 0.1, 0.3, 0.5, 1.0, 2.5, 40.0, 1000.0})
        for (const int size : {1, 4, 15, 254, 255})
            check(GetParam(), {.size = size, .sigma = sigma}, 3, borders[0], {{1, 19, 33, 3}});
}

TEST_P(GaussianTest, DerivesTheSizeFromSigma) {
    for (const auto& [sigma, size] :
         {std::pair{0.1, 1}, {0.5, 3}, {1.0, 5}, {1.5, 9}, {2.0, 11}, {42.7, 255}, {1000.0, 255}}) {
        EXPECT_EQ(gaussian_size_for(sigma), size) << sigma;
        const GaussianParameters of_size{.size = size, .sigma = sigma};
        kit::check_filter(GetParam(), {.info = gaussian_info(),
                                       .values = {{"size", "0"}, {"sigma", fmt::format("{}", sigma)}},
                                       .reference =
                                           [=](const FilterImages<MemorySpace::host>& images) {
                                               gaussian_reference(of_size, images.in, images.out);
                                           },
                                       .shapes = {{1, 19, 33, 3}}});
    }
}

TEST_P(GaussianTest, OpenCvRoundingMatchesTheFixedPointFormula) {
    int turn = 0;
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 9, 15, 17, 31, 255})
        for (const double sigma : {0.0, 1.5})
            for (const int channels : kit::channel_counts(turn++))
                check(GetParam(), {.size = size, .sigma = sigma, .rounding = GaussianRounding::opencv}, channels,
                      borders[size % 3], few_shapes(channels));
}

TEST_P(GaussianTest, DiffersFromTheFormulaByAtMostOne) {
    int turn = 0;
    for (const int size : {1, 2, 3, 4, 5, 8, 15, 33, 101, 255})
        for (const double sigma : {0.0, 0.6, 3.0, 1000.0}) {
            ++turn;
            for (const auto& border : borders)
                if (!kit::brief() || static_cast<int>(border.border) == turn % 3)
                    check(GetParam(), {.size = size, .sigma = sigma}, 1, border, {{1, 23, 71, 1}}, gaussian_formula, 1);
        }
}

// The difference between the fixed-point result and the exact one is at most
//     127.5 * (sum over all pairs of taps of abs(fixed - exact weight)) + half a unit of the rows' results.
// The errors of the weights add up to zero, so only the distance of bytes from 127.5 matters. If this bound is below 1,
// rounded results differ by at most 1, for any image.
TEST(Gaussian, DiffersFromTheFormulaByAtMostOneForAnyImage) {
    double worst = 0;
    for (int size = 1; size <= 255; ++size)
        for (const double sigma : {0.0, 0.2, 0.45, 1.0, 2.0, 5.0, size / 6.0, size / 3.0, 1.0 * size, 1000.0}) {
            const auto fixed = gaussian_weights(size, sigma);
            std::vector<double> exact, error;
            const double used_sigma = sigma == 0 ? default_gaussian_sigma(size) : sigma;
            double sum = 0;
            for (int tap = 0; tap < size; ++tap) {
                const double distance = tap - (size - 1) * 0.5;
                exact.push_back(std::exp(-distance * distance / (2 * used_sigma * used_sigma)));
                sum += exact.back();
            }
            int fixed_sum = 0;
            std::vector<double> rounded;
            for (int tap = 0; tap < size; ++tap) {
                exact[static_cast<std::size_t>(tap)] /= sum;
                const int at = tap - (size - fixed.taps) / 2, mirrored = fixed.taps - 1 - at;
                const int weight =
                    at < 0 || mirrored < 0 ? 0 : fixed.folded[std::min(at, mirrored)] * (at == mirrored ? 2 : 1);
                EXPECT_GE(weight, 0);
                fixed_sum += weight;
                rounded.push_back(weight / 32768.0);
            }
            EXPECT_EQ(fixed_sum, 32768) << "size " << size << ", sigma " << sigma;
            double difference = 0;
            for (std::size_t row = 0; row < rounded.size(); ++row)
                for (std::size_t column = 0; column < rounded.size(); ++column)
                    difference += std::abs(rounded[row] * rounded[column] - exact[row] * exact[column]);
            const double bound = 127.5 * difference + 1.0 / (2 << (15 - gaussian_row_shift(GaussianRounding::fine)));
            EXPECT_LT(bound, 1) << "size " << size << ", sigma " << sigma;
            worst = std::max(worst, bound);
        }
    RecordProperty("largest_error", fmt::format("{:.3f}", worst));
}

// 8-bit weights are used if they suffice for any image. Size 5 errs by at most 0.86 with them, but by 1.28 if all its
// taps weigh the same.
TEST(Gaussian, UsesShortWeightsWhenTheySuffice) {
    for (const int size : {1, 2, 3, 4, 5}) EXPECT_TRUE(gaussian_weights(size, 0).is_short) << size;
    EXPECT_FALSE(gaussian_weights(5, 1000).is_short);
    EXPECT_FALSE(gaussian_weights(7, 0).is_short);
    const auto weights = gaussian_weights(5, 0);
    EXPECT_EQ(weights.folded[0], 18 * gaussian_short_unit);
    EXPECT_EQ(weights.folded[1], 63 * gaussian_short_unit);
    EXPECT_EQ(weights.folded[2], 47 * gaussian_short_unit) << "half of the middle tap's 94";
}

TEST(Gaussian, RejectsInvalidSizesSigmasAndShapes) {
    auto& executor = kit::executor(Backend::cpu);
    const auto message = [&](GaussianParameters parameters) {
        try {
            Gaussian(parameters, {1, 4, 4, 3}, executor);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    for (const int size : {-1, 256})
        EXPECT_EQ(message({.size = size}), "gaussian's size is " + std::to_string(size) + "; allowed: 0 to 255");
    EXPECT_EQ(message({.size = 0}), "gaussian has size 0 and sigma 0; at least one must be given");
    const auto info = gaussian_info();
    EXPECT_THROW(info.output_shape(with_defaults(info, {{"size", "0"}}), {1, 4, 4, 3}), Error);
    EXPECT_EQ(message({.sigma = -1}), "gaussian's sigma is -1; allowed: 0 to 1000");
    EXPECT_EQ(message({.sigma = 1000.5}), "gaussian's sigma is 1000.5; allowed: 0 to 1000");
    EXPECT_EQ(message({.sigma = std::numeric_limits<double>::quiet_NaN()}),
              "gaussian's sigma is nan; allowed: 0 to 1000");
    EXPECT_THROW(Gaussian({}, {1, 4, 4, 2}, executor), Error);
    const Gaussian gaussian({}, {1, 4, 4, 3}, executor);
    HostImage in({1, 4, 4, 3}), gray({1, 4, 4, 1});
    EXPECT_THROW(gaussian.run(FilterImages<MemorySpace::host>{in.view(), {}, gray.view()}), Error);
}

// Compares with the GPU as it is, because the code may have been compiled for an older one.
TEST_P(GaussianTest, UsesNoTensorCoresBeforeAmpere) {
    if (GetParam() == Backend::cpu) return;
    if constexpr (cuda::compiled) {
        const auto fits = [](const cuda::GpuLimits& limits) {
            const kit::EmulatedGpu emulated{std::optional(limits)};
            return gaussian_fits_matrices(gaussian_weights(21, 3.5));
        };
        const bool fits_here = fits(cuda::devices().front().limits);
        for (const auto& [name, limits] : kit::small_gpus())
            EXPECT_EQ(fits(limits), name != "sm_75" && fits_here) << name;
    }
}

}  // namespace
}  // namespace framewire
