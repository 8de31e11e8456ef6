#pragma once

#include "framewire/core/host_device.hpp"

#include <cfloat>
#include <cstdint>

namespace framewire {

// Otsu's threshold (Otsu 1979) exactly as OpenCV computes it: the first threshold with the largest between-class
// variance, in double precision, in OpenCV's order of operations (cv::threshold, getThreshVal_Otsu_8u). On plateaus,
// such as between the two values of a two-valued image, the result depends on every rounding. Therefore no
// multiplication and addition may be fused: sources that call otsu_sequence() on the host are compiled with
// -ffp-contract=off.

// Arithmetic with one rounding per operation: a * b, a + b, a - b and a / b. Device code uses the intrinsics that nvcc
// never contracts to FMA.
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

/// OpenCV's sequence over 256 bins that hold `pixels` pixels in total. Returns the threshold.
FRAMEWIRE_HOST_DEVICE inline int otsu_sequence(const std::uint32_t* counts, std::uint32_t pixels) {
    using namespace one_rounding;
    const double scale = over(1.0, static_cast<double>(pixels));
    double mean = 0;
    for (int bin = 0; bin < 256; ++bin) mean = plus(mean, times(bin, static_cast<double>(counts[bin])));
    mean = times(mean, scale);

    // Running mean and share of the pixels up to the bin, exactly as OpenCV updates them.
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

/// The result for one bin in a parallel search for otsu_sequence()'s threshold.
struct OtsuCandidate {
    /// Variance between the classes if the bin is the threshold; -1 if the sequence skips the bin.
    double variance = -1;
    bool certain = true;  ///< false if rounding decides whether the sequence skips the bin
};

/// Variances closer than this may be ordered differently in the sequence; variances further apart are ordered
/// correctly. The sequence's rounding errors change a variance by less than 1e-7 for any histogram: its sums of shares
/// and means are within 6e-11 after 256 steps, and a division by a small share is followed by a multiplication by it.
inline constexpr double otsu_uncertainty = 1e-6;

/// The candidate of a bin. `dark_count` pixels have a value up to and including the bin's, and their values add up to
/// `dark_sum`. `pixels` and `sum` are the totals of the image.
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
