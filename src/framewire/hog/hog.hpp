#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/parameters/named_value.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace framewire {

struct HogLevels;
struct HogSpread;

/// Normalisation of the histograms of each block of cells (Dalal and Triggs 2005, section 6.4).
enum class HogNorm {
    none,   ///< no normalisation: the histograms of single cells
    l2,     ///< v / sqrt(|v|^2 + e^2), e = 1e-5
    l2hys,  ///< l2, then clipping at 0.2, then l2 again
};

/// Names on the command line and in messages.
inline constexpr NamedValue<HogNorm> hog_norm_names[] = {
    {"none", HogNorm::none}, {"l2", HogNorm::l2}, {"l2hys", HogNorm::l2hys}};

/// How a pixel's direction and magnitude are computed, and in which cells it votes.
enum class HogGradient {
    sobel,    ///< 3x3 (HOG report, section 5); a pixel votes in its own cell
    central,  ///< [-1 0 1] (Dalal and Triggs 2005, section 6.2); a pixel votes in the cells around it
};

/// Names on the command line and in messages.
inline constexpr NamedValue<HogGradient> hog_gradient_names[] = {{"sobel", HogGradient::sobel},
                                                                 {"central", HogGradient::central}};

/// Parameters of Hog.
struct HogParameters {
    HogGradient gradient = HogGradient::sobel;
    int cell = 8;                   ///< side of a cell in pixels, 4 to 64
    int bins = 9;                   ///< number of directions, 2 to 36
    bool signed_gradients = false;  ///< directions of the whole circle; otherwise opposite directions are one
    HogNorm norm = HogNorm::none;
    int block = 2;  ///< side of a block in cells, 1 to 8; ignored without a norm
};

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of the parameters.
const ParameterFields<HogParameters>& hog_fields();

/// Shape of the descriptors of a batch: frames x rows x columns x values. Without a norm each row and column is
/// a cell, and its values are the bins. With a norm it is a block, blocks are one cell apart, and the values
/// are the bins of its cells in raster order.
struct HogShape {
    int frames = 0;
    int rows = 0;
    int columns = 0;
    int values = 0;

    /// Values per row, total number of values, and total bytes.
    constexpr std::int64_t row_values() const { return std::int64_t{columns} * values; }
    constexpr std::int64_t count() const { return row_values() * rows * frames; }
    constexpr std::size_t bytes() const { return static_cast<std::size_t>(count()) * sizeof(float); }

    friend constexpr bool operator==(const HogShape&, const HogShape&) = default;
};

/// Descriptors in memory, without gaps, aligned to a float. Does not own.
template <class T, MemorySpace space>
class HogView {
    static_assert(std::is_same_v<std::remove_const_t<T>, float>);

public:
    constexpr HogView() = default;
    /// Makes a view of descriptors without gaps.
    constexpr HogView(T* data, HogShape shape) : data_(data), shape_(shape) {}

    /// Pointer to the first value, and shape.
    constexpr T* data() const { return data_; }
    constexpr const HogShape& shape() const { return shape_; }
    /// Returns the values of the first column of row `y`.
    constexpr T* row(int frame, int y) const {
        return data_ + (std::int64_t{frame} * shape_.rows + y) * shape_.row_values();
    }

private:
    T* data_ = nullptr;
    HogShape shape_{};
};

/// Returns the shape of the descriptors. Throws Error{usage} if the parameters are not allowed, or if the
/// frames are smaller than a cell or, with a norm, smaller than a block.
HogShape hog_shape(const HogParameters& parameters, const Shape& frames);

/// Histograms of oriented gradients (Dalal and Triggs, "Histograms of oriented gradients for human detection",
/// CVPR 2005; HOG report, sections 4 to 7). The steps are
///
///     gray -> gamma from the frame's histogram -> Sobel, replicated borders -> magnitude and direction -> histograms
///
/// A pixel splits its magnitude between the two nearest bin centres. Pixels after the last whole cell are ignored. With
/// HogGradient::central, gradients are differences of the two adjacent pixels, and each vote is also split between the
/// nearest cells: with a norm within each block, where pixels in the middle count more than at the border (SpreadAxis),
/// without a norm among all cells.
///
/// Images may have any strides and alignment. CPU and CUDA differ only by rounding, by less than 1e-4 of the largest
/// value; each backend returns the same bits for the same image every time. A plan is for one run at a time.
class Hog {
public:
    /// Throws what hog_shape() throws. Keeps a reference to `executor`.
    Hog(const HogParameters& parameters, const Shape& frames, Executor& executor);

    /// Returns the shape of the descriptors.
    const HogShape& output_shape() const { return output_shape_; }

    /// Runs on the executor's threads and returns when done. Throws Error{usage} if a shape does not match.
    void run(HostView<const std::uint8_t> frames, HogView<float, MemorySpace::host> out);
    /// The same for one frame whose gray rows `make` writes, each once, on the executor's threads; the rows are
    /// those of the filter `gray` (weighted). Throws Error{usage} unless goes_by_rows().
    void run(const MakeRows& make, HogView<float, MemorySpace::host> out);
    /// Returns true if run() needs each image row only once: BGR on the CPU, in batches of one frame.
    bool goes_by_rows() const;
    /// The same, queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames, HogView<float, MemorySpace::device> out);

private:
    // Throws Error{usage} unless `out` is output_shape().
    void check(const HogShape& out) const;
    // The steps on the CPU: counting gray levels in bands of rows, setting the gamma, and computing
    // descriptors.
    std::uint8_t* gray_row(int frame, std::int64_t y) const;
    template <class Body>
    void for_bands(Body&& body) const;
    template <class Count>
    void count_bands(Count&& count);
    bool count_near(const MakeRows& make);
    void set_levels(std::int64_t frame, const HogLevels& levels);
    template <class GrayAt>
    void describe(GrayAt&& gray_at, HogView<float, MemorySpace::host> out);

    HogParameters parameters_;
    Shape shape_;
    HogShape cells_shape_, output_shape_;  // cells_shape_: what the norm reads
    Executor* executor_;
    std::int64_t row_stride_bytes_ = 0;  // of the gray image
    int bands_ = 1;                      // number of parts in which a frame's levels are counted
    BackendBuffer gray_, counts_, tables_, cells_;
    std::shared_ptr<const HogSpread> spread_;  // with central gradients
    std::shared_ptr<HogLevels> levels_;        // of the frame before, if rows are accepted
    bool has_levels_ = false;
};

}  // namespace framewire
