#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/scale/scale_axis.hpp"
#include "framewire/filters/scale/scale_blocks.hpp"

#include <cstdint>

namespace framewire {

/// Parameters of Scale.
struct ScaleParameters {
    int width = 0, height = 0;                  ///< of the result, in pixels
    ScaleMethod method = ScaleMethod::bicubic;  ///< interpolation kernel
};

/// Right shifts of the two passes: columns first, then rows. Results of the column pass are rounded to 1/64 and
/// saturate at signed 16 bits; results of the row pass are rounded to integers and clamped to 0..255. Both round halves
/// up.
inline constexpr int scale_column_shift = scale_weight_bits - 6, scale_row_shift = scale_weight_bits + 6;

/// Resizes images with separable weights along columns and rows. ScaleAxis describes the method.
///
/// `in` and `out`: 1 or 3 channels, any strides and alignment, no overlap. On CUDA, one run at a time per plan.
class Scale {
public:
    /// Throws Error{usage} on shapes that are not allowed.
    Scale(ScaleParameters parameters, const Shape& shape, Executor& executor);
    /// Takes any weights for both axes; `shape` must have their sizes. Throws Error{usage} on shapes that are not
    /// allowed.
    Scale(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor);

    /// Shape of the result.
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
    /// Prepares the GPU kernels.
    FilterOnDevice plan_for_cuda() const;
    /// Makes rows of one frame by the method chosen for the CPU.
    void make_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    Shape from_, to_;
    Executor* executor_;
    ScaleAxis columns_, rows_;  // along y and along x
    ScaleBlocks blocks_;        // CPU: of rows_, if neighbours read nearly the same pixels
    FilterOnDevice on_device_;
};

/// Registry entry of `scale`.
FilterInfo scale_info();

}  // namespace framewire
