#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/binarize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace framewire {

struct HogLevels;
struct HogSpread;

/// Normalisation of the histograms of each block (Dalal and Triggs 2005, section 6.4).
enum class HogNorm {
    none,    ///< no normalisation: the histograms of single cells
    l2,      ///< v / sqrt(|v|^2 + e^2), e = 1e-5
    l2hys,   ///< l2, then clipping at 0.2, then l2 again
    opencv,  ///< l2hys with the constants of OpenCV's HOGDescriptor, which damp blocks of low contrast: hog_lengths()
};

/// Names of the norms on the command line and in messages.
inline constexpr NamedValue<HogNorm> hog_norm_names[] = {
    {"none", HogNorm::none}, {"l2", HogNorm::l2}, {"l2hys", HogNorm::l2hys}, {"opencv", HogNorm::opencv}};

/// Method to compute a pixel's direction and magnitude.
enum class HogGradient {
    sobel,    ///< 3x3 (HOG report, section 5); a pixel votes in its own cell
    central,  ///< [-1 0 1] (Dalal and Triggs 2005, section 6.2); a pixel votes in the cells around it: HogVotes
};

/// Names of the gradients on the command line and in messages.
inline constexpr NamedValue<HogGradient> hog_gradient_names[] = {{"sobel", HogGradient::sobel},
                                                                 {"central", HogGradient::central}};

/// Cells among which a pixel splits its vote, by the distance to their centres. Only for HogGradient::central.
enum class HogVotes {
    block,   ///< cells of the same block, with the weight of a Gaussian over the block; without a norm, any cells
    cells,   ///< any cells; the blocks of a norm then share the histograms of their cells
    opencv,  ///< like `block`, with the Gaussian half a pixel off the block's middle, as in OpenCV's HOGDescriptor
};

/// Names of the distributions on the command line and in messages.
inline constexpr NamedValue<HogVotes> hog_votes_names[] = {
    {"block", HogVotes::block}, {"cells", HogVotes::cells}, {"opencv", HogVotes::opencv}};

/// Curve that is applied to gray values or colour channels before the gradients.
enum class HogGamma {
    report,  ///< a power that depends on three quantiles of the frame (HOG report, section 4.1)
    none,    ///< none: values stay as they are
    sqrt,    ///< the square root, scaled so that 255 stays 255 (Dalal and Triggs 2005, section 6.1)
};

/// Names of the curves on the command line and in messages.
inline constexpr NamedValue<HogGamma> hog_gamma_names[] = {
    {"report", HogGamma::report}, {"none", HogGamma::none}, {"sqrt", HogGamma::sqrt}};

/// Values whose gradients vote.
enum class HogColour {
    gray,     ///< the gray image, as computed by the filter `gray` (weighted)
    largest,  ///< for each pixel, the channel with the longest gradient (Dalal and Triggs 2005, section 6.2); of equal
              ///< ones, the first of red, green and blue. Requires HogGradient::central and a gamma other than
              ///< `report`, which is defined for gray. Frames that are gray stay gray.
};

/// Names of the values on the command line and in messages.
inline constexpr NamedValue<HogColour> hog_colour_names[] = {{"gray", HogColour::gray},
                                                             {"largest", HogColour::largest}};

/// Parameters of Hog.
struct HogParameters {
    HogGradient gradient = HogGradient::sobel;
    HogVotes votes = HogVotes::block;  ///< ignored with HogGradient::sobel
    HogGamma gamma = HogGamma::report;
    HogColour colour = HogColour::gray;
    int cell = 8;  ///< side of a cell in pixels, 4 to 64
    int bins = 9;  ///< number of directions, 2 to 36
    /// True: directions cover the whole circle; false: opposite directions count as one.
    bool signed_gradients = false;
    HogNorm norm = HogNorm::none;
    int block = 2;  ///< side of a block in cells, 1 to 8; ignored without a norm
};

/// Descriptors that have a name.
enum class HogPreset {
    report,  ///< of the HOG report: the defaults of HogParameters
    people,  ///< for training models of people: central gradients of the strongest channel after a square root, votes
             ///< spread over all cells, and l2hys (docs/decisions/people.md)
    opencv,  ///< of OpenCV's HOGDescriptor, for its default people detector
};

/// Names of the descriptors on the command line and in messages.
inline constexpr NamedValue<HogPreset> hog_preset_names[] = {
    {"report", HogPreset::report}, {"people", HogPreset::people}, {"opencv", HogPreset::opencv}};

/// Returns the parameters of a descriptor. Its cells and bins are the defaults of HogParameters.
HogParameters hog_preset(HogPreset preset);

template <class Aggregate>
class ParameterFields;

/// Returns the names, ranges and help texts of the parameters.
const ParameterFields<HogParameters>& hog_fields();

/// Returns the name, choices and help text of a preset.
const ParameterInfo& hog_preset_parameter();

/// Adds the parameters of a preset to `given`, except those that are given already. The norm of `report` stays open.
void add_preset(HogPreset preset, ParameterValues& given);

/// Parses the parameters as "descriptor=people:cell=16"; an empty text gives the defaults. Throws Error{usage} if
/// a name or a value is not allowed, or if a given value has no effect.
HogParameters parse_hog(std::string_view text);

/// Shape of the descriptors of a batch: frames x rows x columns x values. Without a norm, each row and column is a
/// cell, and its values are the bins. With a norm, each is a block; blocks are one cell apart, and the values are the
/// bins of the block's cells in raster order.
struct HogShape {
    int frames = 0;
    int rows = 0;
    int columns = 0;
    int values = 0;

    /// Returns the number of values per row.
    constexpr std::int64_t row_values() const { return std::int64_t{columns} * values; }
    /// Returns the total number of values.
    constexpr std::int64_t count() const { return row_values() * rows * frames; }
    /// Returns the total size in bytes.
    constexpr std::size_t bytes() const { return static_cast<std::size_t>(count()) * sizeof(float); }

    friend constexpr bool operator==(const HogShape&, const HogShape&) = default;
};

/// Non-owning view of descriptors in memory, without gaps, aligned to a float.
template <class T, MemorySpace space>
class HogView {
    static_assert(std::is_same_v<std::remove_const_t<T>, float>);

public:
    constexpr HogView() = default;
    /// Makes a view of descriptors without gaps.
    constexpr HogView(T* data, HogShape shape) : data_(data), shape_(shape) {}

    /// Returns a pointer to the first value.
    constexpr T* data() const { return data_; }
    /// Returns the shape of the descriptors.
    constexpr const HogShape& shape() const { return shape_; }
    /// Returns the values of the first column of row `y`.
    constexpr T* row(int frame, int y) const {
        return data_ + (std::int64_t{frame} * shape_.rows + y) * shape_.row_values();
    }

private:
    T* data_ = nullptr;
    HogShape shape_{};
};

/// Returns the shape of the descriptors. Throws Error{usage} if the parameters are not allowed or do not go together,
/// or if the frames are smaller than a cell or, with a norm, smaller than a block.
HogShape hog_shape(const HogParameters& parameters, const Shape& frames);

/// Returns the number of planes whose gradients are computed for frames with `channels` channels: 1 or 3.
constexpr int hog_planes(const HogParameters& parameters, int channels) {
    return parameters.colour == HogColour::largest && channels == 3 ? 3 : 1;
}

/// Histograms of oriented gradients (Dalal and Triggs, "Histograms of oriented gradients for human detection",
/// CVPR 2005; HOG report, sections 4 to 7). The steps are
///
///     gray -> gamma from the frame's histogram -> Sobel, replicated borders -> magnitude and direction -> histograms
///
/// A pixel splits its magnitude between the two nearest bin centres. Pixels after the last whole cell are ignored. With
/// HogGradient::central, gradients are differences of the two adjacent pixels, and each vote is also split between the
/// nearest cells, which HogVotes selects (SpreadAxis). HogGamma and HogColour replace the first two steps.
///
/// Images may have any strides and alignment. CPU and CUDA differ only by rounding, by less than 1e-4 of the largest
/// value; each backend always returns the same bits for the same image. One run at a time per plan.
class Hog {
public:
    /// Prepares the filter. Throws the errors of hog_shape(). `executor` must outlive the object.
    Hog(const HogParameters& parameters, const Shape& frames, Executor& executor);

    /// Returns the shape of the descriptors.
    const HogShape& output_shape() const { return output_shape_; }

    /// Runs on the executor's threads and returns when done. Frames may already be what the gradients are computed of,
    /// with one channel: gray, as computed by the filter `gray` (weighted), or with HogColour::largest the planes of
    /// blue, green and red of each frame, as three consecutive frames. Throws Error{usage} if a shape does not match.
    void run(HostView<const std::uint8_t> frames, HogView<float, MemorySpace::host> out);
    /// Queues a run on the executor's stream. Frames with three channels may only be planes with HogColour::largest.
    /// Throws Error{usage} if a shape does not match.
    void run(DeviceView<const std::uint8_t> frames, HogView<float, MemorySpace::device> out);

private:
    // Throws Error{usage} unless `out` equals output_shape().
    void check(const HogShape& out) const;
    // Returns true if every block has separate histograms.
    bool own_histograms() const { return spread_ && parameters_.votes != HogVotes::cells; }
    // Steps on the CPU: counting gray levels in bands of rows, setting the gamma, and computing descriptors.
    std::uint8_t* gray_row(int frame, std::int64_t y, int plane = 0) const;
    template <class Body>
    void for_bands(Body&& body) const;
    void count_levels(HostView<const std::uint8_t> frames);
    bool count_near(HostView<const std::uint8_t> frame);
    void set_levels(std::int64_t frame, const HogLevels& levels);
    template <class RowsAt>
    void describe(RowsAt&& rows_at, HogView<float, MemorySpace::host> out);

    HogParameters parameters_;
    Shape shape_;
    int planes_;                           // planes of each frame in `gray_`
    HogShape cells_shape_, output_shape_;  // cells_shape_: shape of the norm's input
    Executor* executor_;
    std::int64_t row_stride_bytes_ = 0;  // stride of the planes
    int bands_ = 1;                      // number of bands of a frame whose levels are counted separately
    BackendBuffer gray_, counts_, tables_, cells_;
    std::shared_ptr<const HogSpread> spread_;  // only with central gradients
    std::shared_ptr<HogLevels> levels_;        // levels of the previous frame; null unless frames come singly to a CPU
    bool has_levels_ = false;
};

}  // namespace framewire

// Arithmetic that the CPU, CUDA and the pictures of HOG's steps share.

namespace framewire {

/// Gray levels per bin of the histogram for the gamma (HOG report, section 4.1).
inline constexpr int hog_levels_per_bin = 4;
/// Number of bins of the histogram for the gamma.
inline constexpr int hog_gamma_bins = 256 / hog_levels_per_bin;

/// Inputs of a frame's gamma: the bin edges of three quantiles, and the largest value.
struct HogLevels {
    int low, mid, high, largest;
};

/// Percentages of the pixels that the quantiles low, mid and high stand for.
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

/// Applies the gamma to a gray value: formula 6 of the report, scaled so that it preserves the largest value.
FRAMEWIRE_HOST_DEVICE inline std::uint8_t hog_gamma(int gray, const HogLevels& levels, double exponent) {
    if (gray >= levels.largest || exponent == 1) return static_cast<std::uint8_t>(gray);
    const double share = static_cast<double>(gray) / levels.largest;
    return static_cast<std::uint8_t>(floor(levels.largest * pow(share, exponent) + 0.5));
}

/// Directions as positions on the ring of bins: bin b extends from b to b + 1. The polynomial approximates the
/// arctangent on 0..1 (Remez algorithm) with an error of at most 2.5e-7 rad, and is scaled to bins.
struct HogRing {
    float arctangent[7];         // coefficients of x, x^3, ... x^13
    float quarter, half, whole;  // 90, 180 and 360 degrees in bins; `whole` is 180 degrees if directions are unsigned
    int bins;
};

/// Returns the ring for `bins` bins over 180 degrees, or over 360 degrees if directions are signed.
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

/// Returns the value of HogGamma::sqrt for a gray value.
inline std::uint8_t hog_root(int gray) { return static_cast<std::uint8_t>(std::lround(std::sqrt(255.0 * gray))); }

/// Squared length of a gradient, by which HogColour::largest chooses the channel.
FRAMEWIRE_HOST_DEVICE constexpr int hog_energy(int gx, int gy) { return gx * gx + gy * gy; }

/// Lengths by which blocks are divided: sqrt(|v|^2 + squared) + first, and after clipping sqrt(|v|^2 + squared) +
/// second.
struct HogLengths {
    float squared, first, second;
};

/// Returns the terms of the norm for blocks of `values` values: e^2 = 1e-10 (Dalal and Triggs 2005) or OpenCV's. OpenCV
/// adds a tenth of the number of values, for gradients of values whose square root is at most 16; here the root of 255
/// is 255.
inline HogLengths hog_lengths(const HogParameters& parameters, int values) {
    if (parameters.norm != HogNorm::opencv) return {1e-10f, 0, 0};
    const double unit = parameters.gamma == HogGamma::sqrt ? std::sqrt(255.0) : 1;
    return {0, static_cast<float>(0.1 * values * unit), 1e-3f};
}
/// Clipping limit of l2hys and opencv.
inline constexpr float hog_largest_share = 0.2f;

}  // namespace framewire

// Steps of Hog on the CPU, also for callers that want the result of each step.

namespace framewire {

/// Returns the levels from which the gamma of a frame is computed: quantiles in groups of four gray values, and the
/// largest value.
HogLevels hog_levels(const Histogram& histogram);

/// Returns the gamma table of the report: a new value for each gray value.
std::array<std::uint8_t, 256> hog_gamma_table(const HogLevels& levels);

/// Returns the table of a gamma that does not depend on the frame: `none` or `sqrt`.
std::array<std::uint8_t, 256> hog_fixed_table(HogGamma gamma);

/// Splits a row of BGR pixels into rows of blue, green and red.
void hog_split_row(const std::uint8_t* bgr, std::int64_t pixels, std::uint8_t* const* planes);

/// Queues the split of BGR frames into planes: three frames of one channel for each frame, blue first.
void hog_split_on_device(DeviceView<const std::uint8_t> bgr, DeviceView<std::uint8_t> planes,
                         const cuda::Stream& stream);

/// Applies the gamma table to a row and replicates its border pixels: writes row[-1] to row[pixels].
void hog_gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row);

/// Gradients of a row, one value per pixel in each array.
struct HogGradients {
    std::int16_t* gx;
    std::int16_t* gy;
    float* magnitude;
    float* position;  ///< direction as a position on the ring: at least 0 and below `whole`
};

/// A row of pixels with its neighbours, in each of `planes` planes that are `plane_stride_bytes` apart. With several
/// planes, the gradient of a pixel is the longest one; of equal ones, that of the last plane.
struct HogRows {
    const std::uint8_t *above, *row, *below;
    int planes = 1;
    std::int64_t plane_stride_bytes = 0;
};

/// Computes the gradients of a row. hog_gamma_row() must have written the rows, and 64 bytes after the pixels must be
/// readable. The results must have room for 64 more values, because whole vectors are written.
void hog_gradient_row(const HogRows& rows, std::int64_t pixels, HogGradient gradient, const HogRing& ring,
                      const HogGradients& out);

}  // namespace framewire

// Memory layout of HOG's intermediate images and counts.

namespace framewire {

inline constexpr int hog_most_cell = 64,  ///< maximum side of a cell, in pixels
    hog_most_bins = 36,                   ///< maximum number of bins
    hog_most_block = 8;                   ///< maximum side of a block, in cells

/// Bytes that vector loads on the CPU may read after the last value.
inline constexpr int hog_vector_bytes = 64;

/// A row on the CPU starts and ends with a replicated border pixel.
inline constexpr int hog_cpu_row_begin = 1;

/// Returns the row stride on the CPU, a multiple of 64 bytes.
constexpr std::int64_t hog_cpu_row_stride_bytes(int width) {
    return (std::int64_t{width} + 2 + hog_vector_bytes + 63) / 64 * 64;
}

/// Rows on CUDA consist of whole groups of 16 pixels.
inline constexpr int hog_group_px = 16;

/// Returns the row stride on CUDA, in bytes.
constexpr std::int64_t hog_cuda_row_stride_bytes(int width) {
    return (std::int64_t{width} + hog_group_px - 1) / hog_group_px * hog_group_px;
}

/// Gray levels that one block of threads has counted in its part of a frame.
struct HogBandCounts {
    std::uint32_t bins[hog_gamma_bins];
    std::uint32_t largest;
};

/// Number of threads in a block that counts gray levels.
inline constexpr int hog_count_threads = 512;

/// Returns the number of blocks that count a frame: enough to fill a large GPU several times, each with enough pixels
/// to make its fixed cost negligible.
constexpr int hog_cuda_bands(std::int64_t row_stride_bytes, const Shape& frames) {
    const auto groups = row_stride_bytes / hog_group_px * frames.height;
    return static_cast<int>(std::clamp<std::int64_t>(groups / hog_count_threads, 1, std::max(1, 1024 / frames.frames)));
}

}  // namespace framewire
