#pragma once

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

// two_peaks in numbers, the same on both backends. Bins are shifted so that they add up to 2^29 to 2^30, and a pass
// makes each (left + 2 * own + right + 2) >> 2, the ends being their own outer neighbours: with this kernel, unlike the
// mean of three, and with any rounding that keeps order, a pass never makes a new peak.

inline constexpr int two_peaks_bits = 30;
inline constexpr int two_peaks_most_passes = 10000;

}  // namespace framewire
