// Compiled with -ffp-contract=off: see otsu.hpp.

#include "framewire/filters/binarize/threshold.hpp"

#include "framewire/filters/binarize/otsu.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace framewire {
namespace {

// Number of pixels in a histogram.
std::uint32_t pixels_in(const Histogram& histogram) {
    return std::accumulate(histogram.begin(), histogram.end(), std::uint32_t{0});
}

// One smoothing pass of two_peaks.
Histogram smoothed(const Histogram& from) {
    Histogram to;
    to.front() = (3 * from[0] + from[1] + 2) >> 2;
    for (std::size_t bin = 1; bin < 255; ++bin) to[bin] = (from[bin - 1] + 2 * from[bin] + from[bin + 1] + 2) >> 2;
    to.back() = (from[254] + 3 * from[255] + 2) >> 2;
    return to;
}

// Number of peaks. A peak is a run of equal bins with lower bins, or the end of the histogram, on both sides.
int peaks_of(const Histogram& histogram) {
    int peaks = 0;
    bool rising = true;
    for (std::size_t bin = 1; bin < 256; ++bin) {
        if (histogram[bin] < histogram[bin - 1]) {
            peaks += rising;
            rising = false;
        } else if (histogram[bin] > histogram[bin - 1]) {
            rising = true;
        }
    }
    return peaks + rising;
}

// The valley of a histogram with two peaks: the middle of the bins from the last fall before the second rise, up to
// that rise.
std::uint8_t valley_of(const Histogram& histogram) {
    std::size_t bottom = 0;
    bool fallen = false;
    for (std::size_t bin = 1; bin < 256; ++bin) {
        if (histogram[bin] < histogram[bin - 1]) {
            bottom = bin;
            fallen = true;
        } else if (fallen && histogram[bin] > histogram[bin - 1]) {
            return static_cast<std::uint8_t>((bottom + bin - 1) / 2);
        }
    }
    return static_cast<std::uint8_t>(bottom);
}

}  // namespace

// The first of equally frequent values wins, which is the darkest.
std::uint8_t two_max_threshold(const Histogram& histogram) {
    const auto fullest = std::max_element(histogram.begin(), histogram.end()) - histogram.begin();
    std::ptrdiff_t second = fullest == 0 ? 1 : 0;
    for (std::ptrdiff_t bin = second + 1; bin < 256; ++bin)
        if (bin != fullest && histogram[static_cast<std::size_t>(bin)] > histogram[static_cast<std::size_t>(second)])
            second = bin;
    return static_cast<std::uint8_t>(std::clamp<std::ptrdiff_t>((fullest + second) / 2, 50, 200));
}

std::uint8_t otsu_threshold(const Histogram& histogram) {
    return static_cast<std::uint8_t>(otsu_sequence(histogram.data(), pixels_in(histogram)));
}

// The shift leaves room for the sums of a smoothing pass and gives the rounding enough precision.
std::uint8_t two_peaks_threshold(const Histogram& histogram) {
    auto bins = histogram;
    const int shift = two_peaks_bits - static_cast<int>(std::bit_width(pixels_in(histogram)));
    for (auto& bin : bins) bin <<= shift;
    for (int pass = 0;; ++pass) {
        const int peaks = peaks_of(bins);
        if (peaks == 2) return valley_of(bins);
        if (peaks < 2 || pass == two_peaks_most_passes) return otsu_threshold(histogram);
        bins = smoothed(bins);
    }
}

std::uint8_t choose_threshold(ThresholdMethod method, const Histogram& histogram) {
    switch (method) {
        case ThresholdMethod::two_max: return two_max_threshold(histogram);
        case ThresholdMethod::otsu: return otsu_threshold(histogram);
        case ThresholdMethod::ink:
            return static_cast<std::uint8_t>(ink_threshold(histogram.data(), otsu_threshold(histogram)));
        case ThresholdMethod::two_peaks: break;
    }
    return two_peaks_threshold(histogram);
}

}  // namespace framewire
