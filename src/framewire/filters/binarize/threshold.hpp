#pragma once

#include "framewire/core/host_device.hpp"

#include <array>
#include <cstdint>

namespace framewire {

/// How many pixels have each gray value. At least one pixel in all.
using Histogram = std::array<std::uint32_t, 256>;

/// How a threshold comes from a histogram.
enum class ThresholdMethod {
    two_max,    ///< the report's (section 8.4)
    otsu,       ///< OpenCV's
    two_peaks,  ///< the report's future work (section 8.3)
    ink,        ///< of `document`: Otsu's, unless that lies within the paper's own noise
};

/// A pixel is white where its gray value is above the threshold. Never fails.
std::uint8_t choose_threshold(ThresholdMethod method, const Histogram& histogram);

/// Floor of the mean of the two fullest bins, held to 50..200; of equally full ones the darker is the fuller. An image
/// of one value has 0 (or 1, if it is all 0) as its second bin.
std::uint8_t two_max_threshold(const Histogram& histogram);

/// OpenCV's threshold(THRESH_OTSU), exactly; 0 for an image of one value.
std::uint8_t otsu_threshold(const Histogram& histogram);

/// The valley between two peaks: the histogram is smoothed until it has at most two, and if they are two the threshold
/// is the lowest bin between them, the middle one of several (Prewitt and Mendelsohn, "The analysis of cell images",
/// 1966). What never has two (one value, one hill, or so many passes that nothing is left to find) gets Otsu's
/// threshold.
std::uint8_t two_peaks_threshold(const Histogram& histogram);

/// Tells ink from paper in an image of the paper's remaining light, with `otsu` as its Otsu threshold. On a blank page
/// Otsu halves the paper's noise. So it is kept only if it lies clearly below the pixels above it: by twice their
/// interquartile range under their median, and by 24 at least. Otherwise what is darker than the paper by more than six
/// interquartile ranges (about 4.5 standard deviations of Gaussian noise that Otsu has halved), and by 24 at least, is
/// ink. The range is the larger of q3 - q1 and 2 (median - q1): bright paper is clipped at 255.
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

// two_peaks in numbers, the same on both backends. Bins are shifted so that they add up to 2^29 to 2^30, and a pass
// makes each (left + 2 * own + right + 2) >> 2, the ends being their own outer neighbours: with this kernel, unlike the
// mean of three, and with any rounding that keeps order, a pass never makes a new peak.

inline constexpr int two_peaks_bits = 30;
inline constexpr int two_peaks_most_passes = 10000;

}  // namespace framewire
