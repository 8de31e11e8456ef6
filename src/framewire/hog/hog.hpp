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

/// What is done with the histograms of each block of cells (Dalal and Triggs 2005, section 6.4).
enum class HogNorm {
    none,   ///< the cells' histograms themselves
    l2,     ///< v / sqrt(|v|^2 + e^2), e = 1e-5
    l2hys,  ///< l2, nothing above 0.2, l2 again
};

/// What the command line and the messages call them.
inline constexpr NamedValue<HogNorm> hog_norm_names[] = {
    {"none", HogNorm::none}, {"l2", HogNorm::l2}, {"l2hys", HogNorm::l2hys}};

/// How a pixel's direction and weight come about, and where it votes.
enum class HogGradient {
    sobel,    ///< 3x3 (HOG report, section 5); a pixel votes in its own cell
    central,  ///< [-1 0 1] (Dalal and Triggs 2005, section 6.2); a pixel votes in the cells around it
};

/// What the command line and the messages call them.
inline constexpr NamedValue<HogGradient> hog_gradient_names[] = {{"sobel", HogGradient::sobel},
                                                                 {"central", HogGradient::central}};

struct HogParameters {
    HogGradient gradient = HogGradient::sobel;
    int cell = 8;                   ///< side of a cell in pixels, 4 to 64
    int bins = 9;                   ///< directions, 2 to 36
    bool signed_gradients = false;  ///< directions of the whole circle; otherwise opposite ones are one
    HogNorm norm = HogNorm::none;
    int block = 2;  ///< side of a block in cells, 1 to 8; read only with a norm
};

template <class Aggregate>
class ParameterFields;

/// Their names, ranges and help.
const ParameterFields<HogParameters>& hog_fields();

/// The shape of the descriptors of a batch: frames x rows x columns x values. Without a norm a row and column is a cell
/// and its values are the bins; with one it is a block, blocks lie a cell apart, and the values are the bins of its
/// cells in raster order.
struct HogShape {
    int frames = 0;
    int rows = 0;
    int columns = 0;
    int values = 0;

    constexpr std::int64_t row_values() const { return std::int64_t{columns} * values; }
    constexpr std::int64_t count() const { return row_values() * rows * frames; }
    constexpr std::size_t bytes() const { return static_cast<std::size_t>(count()) * sizeof(float); }

    friend constexpr bool operator==(const HogShape&, const HogShape&) = default;
};

/// Descriptors somewhere in memory, without gaps, aligned to a float. Does not own.
template <class T, MemorySpace space>
class HogView {
    static_assert(std::is_same_v<std::remove_const_t<T>, float>);

public:
    constexpr HogView() = default;
    constexpr HogView(T* data, HogShape shape) : data_(data), shape_(shape) {}

    constexpr T* data() const { return data_; }
    constexpr const HogShape& shape() const { return shape_; }
    /// The values of the first column of a row.
    constexpr T* row(int frame, int y) const {
        return data_ + (std::int64_t{frame} * shape_.rows + y) * shape_.row_values();
    }

private:
    T* data_ = nullptr;
    HogShape shape_{};
};

/// The descriptors' shape. Throws Error{usage} on parameters that are not allowed and on frames smaller than a cell, or
/// with a norm smaller than a block.
HogShape hog_shape(const HogParameters& parameters, const Shape& frames);

/// Histograms of oriented gradients (HOG report, sections 4 to 7): gray, a gamma from each frame's histogram, Sobel
/// with replicated borders, magnitude and direction, and for each cell how much magnitude goes in which direction. A
/// pixel splits its magnitude between the two nearest bin centres; pixels beyond the last whole cell count for none.
/// With central gradients they are differences of the pixels on both sides, and each vote is split between the nearest
/// cells, too: within a block, more in its middle than at its border (SpreadAxis), or without a norm among all cells.
/// Images have any strides and any alignment. CPU and CUDA differ by rounding only (less than 1e-4 of the largest
/// value); each gives the same bits for the same image every time. A plan is for one run at a time.
class Hog {
public:
    /// Throws as hog_shape() does. Keeps a reference to `executor`.
    Hog(const HogParameters& parameters, const Shape& frames, Executor& executor);

    const HogShape& output_shape() const { return output_shape_; }

    /// On the executor's threads; returns when done.
    void run(HostView<const std::uint8_t> frames, HogView<float, MemorySpace::host> out);
    /// The same for one frame whose rows of gray `make` makes, each once, on the executor's threads: of one channel, as
    /// the filter `gray` (weighted) has it. Where goes_by_rows().
    void run(const MakeRows& make, HogView<float, MemorySpace::host> out);
    /// Whether it needs each row of an image but once: BGR on the CPU, for batches of one frame.
    bool goes_by_rows() const;
    /// Queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames, HogView<float, MemorySpace::device> out);

private:
    void check(const HogShape& out) const;
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
    HogShape cells_shape_, output_shape_;  // cells_shape_: of what a norm is taken of
    Executor* executor_;
    std::int64_t row_stride_bytes_ = 0;  // of the gray image
    int bands_ = 1;                      // in how many parts a frame is counted
    BackendBuffer gray_, counts_, tables_, cells_;
    std::shared_ptr<const HogSpread> spread_;  // of central gradients
    std::shared_ptr<HogLevels> levels_;        // of the frame before, where it may go by rows
    bool has_levels_ = false;
};

}  // namespace framewire
