#pragma once

#include "framewire/core/host_device.hpp"

#include <cmath>
#include <cstdint>

// Arithmetic that the CPU, CUDA and the drawings of HOG's steps have in common.

namespace framewire {

inline constexpr int hog_levels_per_bin = 4;  // in the histogram for the gamma (HOG report, section 4.1)
inline constexpr int hog_gamma_bins = 256 / hog_levels_per_bin;

/// Inputs of a frame's gamma: the bin edges of three quantiles, and the largest value.
struct HogLevels {
    int low, mid, high, largest;
};

/// The quantiles at these edges, in percent of the pixels.
inline constexpr unsigned hog_level_percents[] = {5, 50, 95};

/// Returns true for the first bin whose cumulative count reaches `percent` of all pixels, given the cumulative
/// counts before the bin (`below`) and including it (`through`).
FRAMEWIRE_HOST_DEVICE constexpr bool hog_reaches(std::uint64_t below, std::uint64_t through, std::uint64_t pixels,
                                                 unsigned percent) {
    return below * 100 < pixels * percent && through * 100 >= pixels * percent;
}

/// Returns 1 / g of the report's formulas 4 and 5.
FRAMEWIRE_HOST_DEVICE inline double hog_gamma_exponent(const HogLevels& levels) {
    const int dark = levels.mid - levels.low, light = levels.high - levels.mid;
    if (dark == 0 && light == 0) return 1;
    if (dark == 0) return 1 / 0.8;
    if (light == 0) return 1 / 1.2;
    const double gamma = log(static_cast<double>(dark) / light);
    return 1 / (gamma < 0.8 ? 0.8 : gamma > 1.2 ? 1.2 : gamma);
}

/// Applies the gamma to a gray value: formula 6 of the report, scaled so that the largest value is kept.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t hog_gamma(int gray, const HogLevels& levels, double exponent) {
    if (gray >= levels.largest || exponent == 1) return static_cast<std::uint8_t>(gray);
    const double share = static_cast<double>(gray) / levels.largest;
    return static_cast<std::uint8_t>(floor(levels.largest * pow(share, exponent) + 0.5));
}

/// Directions as positions on the ring of bins: bin b extends from b to b + 1. The polynomial approximates the
/// arctangent on 0..1 (Remez algorithm) with an error of at most 2.5e-7 rad, and is scaled to bins.
struct HogRing {
    float arctangent[7];         // coefficients of x, x^3, ... x^13
    float quarter, half, whole;  // 90, 180 and 360 degrees in bins; the whole is 180 degrees if unsigned
    int bins;
};

/// Returns the ring for `bins` bins over 180 degrees, or 360 if signed.
inline HogRing hog_ring(int bins, bool signed_gradients) {
    constexpr double coefficients[] = {0.999996111549571,    -0.3331736805474948, 0.19807815564989892,
                                       -0.13233342095574446, 0.07962367236556601, -0.03360422056494872,
                                       0.006811793290839966};
    const double bins_of_half = signed_gradients ? bins / 2.0 : bins;
    HogRing ring{};
    for (int i = 0; i < 7; ++i)
        ring.arctangent[i] = static_cast<float>(coefficients[i] * bins_of_half / 3.14159265358979323846);
    ring.quarter = static_cast<float>(bins_of_half / 2);
    ring.half = static_cast<float>(bins_of_half);
    ring.whole = static_cast<float>(bins);
    ring.bins = bins;
    return ring;
}

/// e^2 of the l2 norm, and the clipping limit of l2hys (Dalal and Triggs 2005).
inline constexpr float hog_epsilon_squared = 1e-10f;
inline constexpr float hog_largest_share = 0.2f;

}  // namespace framewire
