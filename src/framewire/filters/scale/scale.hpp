#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/scale/scale_axis.hpp"
#include "framewire/filters/scale/scale_blocks.hpp"

#include <cstdint>

namespace framewire {

struct ScaleParameters {
    int width = 0, height = 0;  ///< of the result, in pixels
    ScaleMethod method = ScaleMethod::bicubic;
};

/// Columns first, then rows: the columns' results are rounded to 1/64 (half up) and held to 16 bits with a sign, the
/// rows' to whole numbers (half up) and held to 0..255.
inline constexpr int scale_column_shift = scale_weight_bits - 6, scale_row_shift = scale_weight_bits + 6;

/// Images of another size, by weights along rows and along columns. In and out: any strides, any alignment,
/// no overlap; 1 or 3 channels. On CUDA a plan is for one run at a time.
class Scale {
public:
    /// Throws Error{usage} on shapes that are not allowed.
    Scale(ScaleParameters parameters, const Shape& shape, Executor& executor);
    /// By any weights, down and along; `shape` has their sides. Throws likewise.
    Scale(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor);

    const Shape& output_shape() const { return to_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter.
    bool goes_by_rows() const { return executor_->backend() == Backend::cpu && to_.frames == 1; }
    RowRange rows_needed(const RowRange& made) const;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    FilterOnDevice plan_for_cuda() const;
    void make_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    Shape from_, to_;
    Executor* executor_;
    ScaleAxis columns_, rows_;  // along y and along x
    ScaleBlocks blocks_;        // CPU: of rows_, where neighbours see nearly the same pixels
    FilterOnDevice on_device_;
};

/// The registry's entry.
FilterInfo scale_info();

}  // namespace framewire
