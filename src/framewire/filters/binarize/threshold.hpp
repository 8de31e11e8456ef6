#pragma once

#include "framewire/core/host_device.hpp"

#include <array>
#include <cstdint>

namespace framewire {

/// Number of pixels with each gray value; at least one pixel in total.
using Histogram = std::array<std::uint32_t, 256>;

/// How a threshold is found from a histogram.
enum class ThresholdMethod {
    two_max,    ///< two_max_threshold(); the report's (section 8.4)
    otsu,       ///< otsu_threshold(), as OpenCV
    two_peaks,  ///< two_peaks_threshold(); the report's future work (section 8.3)
    ink,        ///< for `document`: Otsu's unless it lies within the paper's noise; see ink_threshold()
};

/// Returns the threshold: pixels with a gray value above it are white. Never fails.
std::uint8_t choose_threshold(ThresholdMethod method, const Histogram& histogram);

/// Mean of the two most frequent values, rounded down and clamped to 50..200. If two values are equally frequent, the
/// darker one comes first. For an image of one value the second is 0 (or 1 if all pixels are 0).
std::uint8_t two_max_threshold(const Histogram& histogram);

/// Otsu's threshold (Otsu 1979), bit-exact with OpenCV's threshold(THRESH_OTSU). Returns 0 for an image of one value.
std::uint8_t otsu_threshold(const Histogram& histogram);

/// The valley between two peaks (Prewitt and Mendelsohn, "The analysis of cell images", 1966): the histogram is
/// smoothed until it has at most two peaks. If two remain, the threshold is the lowest bin between them, or the middle
/// one of several. If two never appear (one value, one peak, or too many passes), the result is Otsu's threshold.
std::uint8_t two_peaks_threshold(const Histogram& histogram);

/// Separates ink from paper in an image divided by its illumination. `otsu` is the Otsu threshold of `counts`. On a
/// blank page Otsu's method splits the paper's noise in two, so its threshold is used only if it lies clearly below the
/// pixels above it: below their median by at least twice their interquartile range, and by at least 24. Otherwise the
/// threshold is six interquartile ranges (about 4.5 standard deviations of Gaussian noise that Otsu has halved), and at
/// least 24, below the median. The range is the larger of q3 - q1 and 2 (median - q1), because bright paper is clipped
/// at 255.
FRAMEWIRE_HOST_DEVICE inline int ink_threshold(const std::uint32_t* counts, int otsu) {
    constexpr int least_contrast = 24, kept_ranges = 2, noise_ranges = 6;
    std::uint64_t pixels = 0;
    for (int bin = otsu + 1; bin < 256; ++bin) pixels += counts[bin];
    if (pixels == 0) return otsu;
    int quartiles[3] = {}, found = 0;
    std::uint64_t so_far = 0;
    for (int bin = otsu + 1; found < 3; ++bin) {
        so_far += counts[bin];
        while (found < 3 && 4 * so_far > static_cast<unsigned>(found + 1) * pixels) quartiles[found++] = bin;
    }
    const int median = quartiles[1], lower = 2 * (median - quartiles[0]), both = quartiles[2] - quartiles[0];
    const int range = lower > both ? lower : both;
    const auto below_median = [&](int ranges) {
        return median - (ranges * range > least_contrast ? ranges * range : least_contrast);
    };
    if (otsu <= below_median(kept_ranges)) return otsu;
    const int threshold = below_median(noise_ranges);
    return threshold > 0 ? threshold : 0;
}

// Constants of two_peaks, the same on both backends. Bins are shifted so that they add up to 2^29 to 2^30. A pass
// replaces each bin by (left + 2 * own + right + 2) >> 2; the outermost bins are their own outer neighbours. Unlike a
// mean of three, this kernel never creates a new peak, whatever the rounding, as long as it preserves order.

/// Bits that the sum of all bins has after the shift.
inline constexpr int two_peaks_bits = 30;
/// Smoothing passes after which the search is given up.
inline constexpr int two_peaks_most_passes = 10000;

}  // namespace framewire
