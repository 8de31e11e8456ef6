#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/gray_input.hpp"

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

/// Number of pixels with each gray value; at least one pixel in total.
using Histogram = std::array<std::uint32_t, 256>;

/// How a threshold is found from a histogram.
enum class ThresholdMethod {
    two_max,    ///< two_max_threshold(): the streaming report's method (section 8.4)
    otsu,       ///< otsu_threshold(): as in OpenCV
    two_peaks,  ///< two_peaks_threshold(): future work in the streaming report (section 8.3)
    ink,        ///< for `document`: Otsu's unless it lies within the paper's noise; see ink_threshold()
};

/// Returns the threshold: pixels with a gray value above it are white. Never fails.
std::uint8_t choose_threshold(ThresholdMethod method, const Histogram& histogram);

/// Returns the mean of the two most frequent values, rounded down and clamped to 50..200. If two values are equally
/// frequent, the darker one comes first. For an image of one value, the second value is 0 (or 1 if all pixels are 0).
std::uint8_t two_max_threshold(const Histogram& histogram);

/// Returns Otsu's threshold (Otsu 1979), bit-exact with OpenCV's threshold(THRESH_OTSU), or 0 for an image of one
/// value.
std::uint8_t otsu_threshold(const Histogram& histogram);

/// Returns the valley between two peaks (Prewitt and Mendelsohn, "The analysis of cell images", 1966): the histogram is
/// smoothed until it has at most two peaks. If two remain, the threshold is the lowest bin between them, or the middle
/// one if several are equally low. If no pass leaves two (one value, one peak, or too many passes), the result is
/// Otsu's threshold.
std::uint8_t two_peaks_threshold(const Histogram& histogram);

/// Returns the threshold that separates ink from paper in an image divided by its illumination. `otsu` is the Otsu
/// threshold of `counts`. On a blank page Otsu's method splits the paper's noise in two, so its threshold is used only
/// if it lies clearly below the pixels above it: below their median by at least 1.5 times their interquartile range,
/// and by at least 8. On noisy blank pages the distance is at most 1.2 ranges, on pages with ink at least 2. Otherwise
/// the threshold is six interquartile ranges (about 4.5 standard deviations of Gaussian noise that Otsu has halved),
/// and at least 24, below the median. The range is the larger of q3 - q1 and 2 (median - q1), because bright paper is
/// clipped at 255.
FRAMEWIRE_HOST_DEVICE inline int ink_threshold(const std::uint32_t* counts, int otsu) {
    constexpr int least_contrast = 8, least_from_noise = 24, noise_ranges = 6;
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
    const int contrast = median - otsu, from_noise = noise_ranges * range;
    if (contrast >= least_contrast && 2 * contrast >= 3 * range) return otsu;
    const int threshold = median - (from_noise > least_from_noise ? from_noise : least_from_noise);
    return threshold > 0 ? threshold : 0;
}

// Constants of two_peaks, the same on both backends. Bins are shifted so that they add up to 2^29 to 2^30. A pass
// replaces each bin by (left + 2 * own + right + 2) >> 2; the outermost bins are their own outer neighbours. Unlike a
// mean of three, this kernel never creates a new peak, whatever the rounding, as long as it preserves order.

/// Number of bits in the sum of all bins after the shift.
inline constexpr int two_peaks_bits = 30;
/// Number of smoothing passes after which the search stops and Otsu's threshold is used.
inline constexpr int two_peaks_most_passes = 10000;

/// Counts the gray values (gray's `weighted`) of rows begin..end-1 of a one-frame image on the calling thread into
/// `out`. The gray values of a BGR image are also written to `gray`, row by row, `gray_row_stride_bytes` apart; a
/// one-channel image is its own gray and leaves `gray` untouched. Each call has a fixed cost, about that of counting
/// 50,000 pixels.
void count_gray(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                std::int64_t gray_row_stride_bytes, Histogram& out);

/// Faster variant of count_gray() for callers that need only the counts of groups of four values, and the largest
/// value. A group's count is stored at its first value; only one pixel of the highest group is counted at the largest
/// value itself, which marks that value. Such histograms may be added up.
void count_gray_groups(HostView<const std::uint8_t> image, int begin, int end, std::uint8_t* gray,
                       std::int64_t gray_row_stride_bytes, Histogram& out);

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

/// Runs OpenCV's sequence over 256 bins that hold `pixels` pixels in total, and returns the threshold.
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

/// Two variances that differ by less than this may be ordered differently by the sequence; others are ordered
/// correctly. The sequence's rounding errors change a variance by less than 1e-7 for any histogram: its sums of shares
/// and means are within 6e-11 after 256 steps, and a division by a small share is followed by a multiplication by that
/// share.
inline constexpr double otsu_uncertainty = 1e-6;

/// Returns the candidate of a bin. `dark_count` pixels have a value up to and including the bin's, and their values add
/// up to `dark_sum`. `pixels` and `sum` are the totals of the image.
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

/// Parameters of Binarize.
struct BinarizeParameters {
    /// How the threshold is found from each frame's histogram. If empty, the threshold is `level`.
    std::optional<ThresholdMethod> method = ThresholdMethod::two_max;
    int level = 128;  ///< threshold if `method` is empty, 0..255
};

/// Converts images to black and white with one threshold per frame (streaming report, section 8): every channel of a
/// pixel becomes 255 if its gray value (gray's `weighted`) is above the threshold, otherwise 0. The result has as many
/// channels as the image. `in` and `out`: any strides and alignment, no overlap. One run at a time per plan.
class Binarize {
public:
    /// Throws Error{usage} on a shape or level that is not allowed.
    Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues histogram, threshold and result on the executor's stream; the threshold stays on the GPU.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Returns the `threshold` of each frame of the last run; nothing before the first run. Waits for the executor's
    /// stream.
    std::vector<FilterFigure> figures() const;

private:
    BinarizeParameters parameters_;
    Shape shape_;
    Executor* executor_;
    int bands_, histogram_bands_;  // CPU: number of bands per frame, for thresholding and for counting
    BackendBuffer thresholds_;     // one byte per frame
    BackendBuffer histograms_;     // CPU: one Histogram per band; CUDA: one per frame, all zero between runs
    HostBuffer gray_;              // CPU: the gray values of a BGR image
    bool has_run_ = false;
};

/// Thresholds one run of pixels at `level` on the calling thread, for passes that fuse several filters. `out_channels`
/// is 1 or the channels of `in`.
void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, int out_channels,
                   std::uint8_t* out);

/// Thresholds one pixel on the GPU, at the level stored in the operation.
class BinarizeOnDevice {
public:
    /// Takes the level from an operation of binarize_info().
    explicit BinarizeOnDevice(const PointwiseOp& op)
        : weights_(split(gray_weights(GrayMethod::weighted))), level_(op.values[0]) {}
    /// Returns white (255 in all channels) if the pixel's gray value is above the level, otherwise black.
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel pixel) const {
        return static_cast<int>(gray_of(pixel, weights_)) > level_ ? gray_pixel(255) : 0u;
    }

private:
    SplitWeights weights_;
    int level_;
};

/// Returns the registry entry of `binarize`, including the methods `document` and `sauvola`.
FilterInfo binarize_info();

/// Parameters of Sauvola.
struct SauvolaParameters {
    int window = 25;  ///< side of the window; odd, 3..max_sauvola_window
    double k = 0.2;   ///< weight of the contrast, 0..1; larger values leave less black in areas of low contrast
};

/// Largest window of Sauvola, in pixels.
inline constexpr int max_sauvola_window = 255;

/// Converts images to black and white with a threshold per pixel, for documents on uneven paper (Sauvola and
/// Pietikainen, "Adaptive document image binarization", 2000). A pixel is white if gray > mean * (1 + k * (deviation /
/// 128 - 1)), with the mean and the standard deviation of the window around it, cut off at the image's edges. Running
/// sums make the cost independent of the window.
///
/// `in` and `out`: any strides and alignment, no overlap; as many channels as the image. One run at a time per plan.
class Sauvola {
public:
    /// Throws Error{usage} on a shape, window or k that is not allowed.
    Sauvola(SauvolaParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the filter on the executor's stream as one launch.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    FilterOnDevice plan_for_cuda() const;

    SauvolaParameters parameters_;
    Shape shape_;
    Executor* executor_;
    FilterOnDevice on_device_;
    int band_rows_;           // CPU: rows per chunk of work
    HostBuffer gray_, sums_;  // CPU: one frame's gray values if it is BGR; running sums of each band
};

/// Sums over a window, on both backends. They add up value - 128 instead of the value, so that the squares of the
/// largest window fit 31 bits and its sum of values is exact in a float.
struct WindowSums {
    /// Sum of the values, and of their squares.
    std::int32_t values = 0, squares = 0;

    /// Adds the sums of two adjacent ranges. Prefix sums of squares may wrap around; their differences are still
    /// correct.
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator+(WindowSums a, WindowSums b) {
        return {a.values + b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) +
                                                               static_cast<std::uint32_t>(b.squares))};
    }
    /// Returns the difference of two prefix sums.
    FRAMEWIRE_HOST_DEVICE friend constexpr WindowSums operator-(WindowSums a, WindowSums b) {
        return {a.values - b.values, static_cast<std::int32_t>(static_cast<std::uint32_t>(a.squares) -
                                                               static_cast<std::uint32_t>(b.squares))};
    }
};

/// Returns the threshold of a pixel whose window covers `pixels` pixels of the image. Every operation is rounded to
/// float separately, so that all backends and instruction sets give the same bytes. Sources that use it are compiled
/// with -ffp-contract=off.
inline float sauvola_threshold(const WindowSums& sums, float pixels, float k) {
    const float mean = static_cast<float>(sums.values) / pixels;
    const float square = static_cast<float>(sums.squares) / pixels;
    const float difference = square - mean * mean;
    const float variance = difference > 0 ? difference : 0;
    const float contrast = std::sqrt(variance) * (1.0f / 128) - 1;
    return (mean + 128) * (1 + k * contrast);
}

/// Memory layout of the running sums of one band of rows.
struct SauvolaRows {
    std::int32_t *values, *squares;              // sums per column, over the window's rows
    std::int32_t *value_prefix, *square_prefix;  // prefix sums over the columns, extended by half a window at both ends
    float* columns;                              // number of columns of the window inside the image, per column

    /// Returns the number of 32-bit words that a band needs.
    static constexpr std::int64_t numbers(int width, int window) { return 3ll * width + 2ll * (width + window); }

    /// Divides `memory`, which has numbers() words, into the arrays.
    SauvolaRows(std::int32_t* memory, int width, int window)
        : values(memory),
          squares(values + width),
          value_prefix(squares + width),
          square_prefix(value_prefix + width + window),
          columns(reinterpret_cast<float*>(square_prefix + width + window)) {}
};

}  // namespace framewire
