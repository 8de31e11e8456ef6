#pragma once

#include "framewire/core/host_device.hpp"

#include <cmath>
#include <cstdint>

// What the CPU, CUDA and the drawing of HOG's steps share.

namespace framewire {

inline constexpr int hog_levels_per_bin = 4;  // of the gamma's histogram (HOG report, section 4.1)
inline constexpr int hog_gamma_bins = 256 / hog_levels_per_bin;

/// What a frame's gamma comes from: three edges of its histogram's bins and its largest value.
struct HogLevels {
    int low, mid, high, largest;
};

/// Of how many pixels in a hundred the gray is up to the bins at these edges.
inline constexpr unsigned hog_level_percents[] = {5, 50, 95};

/// The first bin whose cumulative count reaches `percent` of all: whether one with the cumulative count `below` before
/// it and `through` with it is.
FRAMEWIRE_HOST_DEVICE constexpr bool hog_reaches(std::uint64_t below, std::uint64_t through, std::uint64_t pixels,
                                                 unsigned percent) {
    return below * 100 < pixels * percent && through * 100 >= pixels * percent;
}

/// 1 / g of the report's formulas 4 and 5.
FRAMEWIRE_HOST_DEVICE inline double hog_gamma_exponent(const HogLevels& levels) {
    const int dark = levels.mid - levels.low, light = levels.high - levels.mid;
    if (dark == 0 && light == 0) return 1;
    if (dark == 0) return 1 / 0.8;
    if (light == 0) return 1 / 1.2;
    const double gamma = log(static_cast<double>(dark) / light);
    return 1 / (gamma < 0.8 ? 0.8 : gamma > 1.2 ? 1.2 : gamma);
}

/// What becomes of the gray value `gray`: the report's formula 6, scaled so that the largest value stays.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t hog_gamma(int gray, const HogLevels& levels, double exponent) {
    if (gray >= levels.largest || exponent == 1) return static_cast<std::uint8_t>(gray);
    const double share = static_cast<double>(gray) / levels.largest;
    return static_cast<std::uint8_t>(floor(levels.largest * pow(share, exponent) + 0.5));
}

/// Directions as positions on the ring of bins: bin b reaches from b to b + 1. The polynomial is arctan on 0..1, its
/// largest error 2.5e-7 of a radian (Remez), scaled to bins.
struct HogRing {
    float arctangent[7];         // of x, x^3, ... x^13
    float quarter, half, whole;  // turns of 90, 180 and all degrees; unsigned, 180 degrees are all there is
    int bins;
};

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

inline constexpr float hog_epsilon_squared = 1e-10f;
inline constexpr float hog_largest_share = 0.2f;

}  // namespace framewire
