#pragma once

#include "framewire/core/host_device.hpp"

#include <cfloat>
#include <cstdint>

namespace framewire {

// Otsu's threshold as OpenCV has it: of all thresholds the first with the largest variance between the two classes, in
// double precision, one operation after the other (cv::threshold, getThreshVal_Otsu_8u). Results on plateaus, as
// between the two values of a two-valued image, hang on each rounding, so no multiplication and addition may be fused:
// sources that call otsu_sequence() on the host are compiled with -ffp-contract=off.

namespace one_rounding {
#ifdef __CUDA_ARCH__
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ inline double over(double a, double b) { return __ddiv_rn(a, b); }
#else
inline double times(double a, double b) { return a * b; }
inline double plus(double a, double b) { return a + b; }
inline double minus(double a, double b) { return a - b; }
inline double over(double a, double b) { return a / b; }
#endif
}  // namespace one_rounding

/// OpenCV's own sequence over 256 bins that hold `pixels` pixels.
FRAMEWIRE_HOST_DEVICE inline int otsu_sequence(const std::uint32_t* counts, std::uint32_t pixels) {
    using namespace one_rounding;
    const double scale = over(1.0, static_cast<double>(pixels));
    double mean = 0;
    for (int bin = 0; bin < 256; ++bin) mean = plus(mean, times(bin, static_cast<double>(counts[bin])));
    mean = times(mean, scale);

    double dark_mean = 0, dark_share = 0, largest_variance = 0;
    int threshold = 0;
    for (int bin = 0; bin < 256; ++bin) {
        const double share = times(static_cast<double>(counts[bin]), scale);
        dark_mean = times(dark_mean, dark_share);
        dark_share = plus(dark_share, share);
        const double light_share = minus(1.0, dark_share);
        const double smaller = dark_share < light_share ? dark_share : light_share;
        const double larger = dark_share < light_share ? light_share : dark_share;
        if (smaller < FLT_EPSILON || larger > 1.0 - FLT_EPSILON) continue;
        dark_mean = over(plus(dark_mean, times(bin, share)), dark_share);
        const double light_mean = over(minus(mean, times(dark_share, dark_mean)), light_share);
        const double distance = minus(dark_mean, light_mean);
        const double variance = times(times(times(dark_share, light_share), distance), distance);
        if (variance > largest_variance) {
            largest_variance = variance;
            threshold = bin;
        }
    }
    return threshold;
}

/// One bin's part of a parallel search for otsu_sequence()'s result.
struct OtsuCandidate {
    double variance =
        -1;  ///< between the classes, if this bin is the threshold; -1 where the sequence passes over the bin
    bool certain = true;  ///< false where rounding decides whether it does
};

/// Two variances closer than this may be in either order in the sequence; further apart they are in the true one. The
/// sequence's rounding errors add up to less than 1e-7 in a variance, whatever the histogram: its sums of shares and
/// means are within 6e-11 after 256 steps, and dividing by a small share comes with multiplying by it.
inline constexpr double otsu_uncertainty = 1e-6;

/// The candidate of a bin with `dark_count` pixels up to and including it, whose values add up to `dark_sum`.
FRAMEWIRE_HOST_DEVICE inline OtsuCandidate otsu_candidate(std::uint64_t dark_count, std::uint64_t dark_sum,
                                                          std::uint64_t pixels, std::uint64_t sum) {
    const auto light_count = pixels - dark_count;
    const double smaller =
        static_cast<double>(dark_count < light_count ? dark_count : light_count) / static_cast<double>(pixels);
    constexpr double share_uncertainty = 1e-11;
    if (smaller < FLT_EPSILON - share_uncertainty) return {};
    if (smaller < FLT_EPSILON + share_uncertainty) return {-1, false};
    const double dark = static_cast<double>(dark_count), light = static_cast<double>(light_count);
    const double distance = static_cast<double>(dark_sum) / dark - static_cast<double>(sum - dark_sum) / light;
    const double shares = dark / static_cast<double>(pixels) * (light / static_cast<double>(pixels));
    return {shares * distance * distance, true};
}

}  // namespace framewire
