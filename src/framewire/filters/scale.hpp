#pragma once

#include "framewire/core/rows.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/scale_axis.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire {

/// Weights of an axis, arranged for vectors. Used if neighbouring pixels read nearly the same source pixels; if an
/// image shrinks to less than about half, they are too far apart. The weights of a block of four neighbouring pixels
/// are stored together, two taps of each pixel, and so are the positions of their source pixels.
///
/// Blocks form groups of eight, 32 pixels of the result:
///
///   vector v of a group (v = 0 .. 3) holds blocks v and v + 4
///
/// so that packing the results leaves them in order. The last pixel is repeated to fill the last group.
struct ScaleBlocks {
    /// Pixels per block and per group, and blocks per group.
    static constexpr int block_px = 4, group_px = 32, group_blocks = group_px / block_px;

    int pairs = 0;  ///< number of pairs of taps
    /// Per block, the first of the eight source pixels that its four pixels read with one pair of taps; each further
    /// pair starts two pixels later. Never negative. Source pixels beyond the image have weight 0.
    std::vector<std::int32_t> first{};
    /// Per group, 4 x 32 bytes: for each vector, the positions of both taps of each pixel, in bytes from the block's
    /// `first`.
    std::vector<std::uint8_t> order{};
    /// Per group, 4 x `pairs` x 16 numbers: for each vector and pair of taps, the weights.
    std::vector<std::int16_t> weights{};

    /// Returns true if the axis has no blocks.
    bool empty() const { return pairs == 0; }
    /// Returns the number of groups.
    int groups() const { return static_cast<int>(first.size()) / group_blocks; }
    /// Returns the first source pixel that a group's vectors read.
    int group_begin(int group) const;
    /// Returns the end of the source pixels that a group's vectors read; it may lie beyond the image.
    int group_end(int group) const;
};

/// Arranges the weights of an axis. Returns no blocks if neighbours are too far apart.
ScaleBlocks scale_blocks(const ScaleAxis& axis);

/// Parameters of Scale.
struct ScaleParameters {
    int width = 0, height = 0;                  ///< size of the result in pixels
    ScaleMethod method = ScaleMethod::bicubic;  ///< interpolation kernel
};

/// Right shifts of the two passes: columns first, then rows. Results of the column pass are rounded to 1/64 and
/// saturate at signed 16 bits; results of the row pass are rounded to integers and clamped to 0..255. Both passes round
/// halves up.
inline constexpr int scale_column_shift = scale_weight_bits - 6,  ///< shift after the column pass
    scale_row_shift = scale_weight_bits + 6;                      ///< shift after the row pass

/// Resizes images with separable weights along columns and rows. ScaleAxis describes the method.
///
/// `in` and `out` have 1 or 3 channels, any strides and alignment. They must not overlap. On CUDA, one run at a time
/// per plan.
class Scale {
public:
    /// Prepares the filter. Throws Error{usage} if a shape is not allowed.
    Scale(ScaleParameters parameters, const Shape& shape, Executor& executor);
    /// Prepares scaling with any weights for both axes; `shape` must have their sizes. Throws Error{usage} if a shape
    /// is not allowed.
    Scale(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor);

    /// Returns the shape of the result.
    const Shape& output_shape() const { return to_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// Returns true if the filter can run by rows (see Filter::run_rows()): on the CPU, one frame at a time.
    bool works_by_rows() const { return executor_->backend() == Backend::cpu && to_.frames == 1; }
    /// See Filter::rows_needed().
    RowRange rows_needed(const RowRange& made) const;
    /// See Filter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    /// Prepares the GPU kernels.
    FilterOnDevice plan_for_cuda() const;
    /// Computes rows of one frame by the method chosen for the CPU.
    void make_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    Shape from_, to_;
    Executor* executor_;
    ScaleAxis columns_, rows_;  // axes along y and along x
    ScaleBlocks blocks_;        // CPU only: blocks of rows_, if neighbours read nearly the same pixels
    FilterOnDevice on_device_;
};

/// Returns the registry entry of `scale`.
FilterInfo scale_info();

/// Maximum number of column taps that scale_rows_in_planes() supports.
inline constexpr int scale_planes_most_taps = 32;

/// Computes rows of a scaled image on the calling thread, tile by tile. The channels of each image row are split into
/// planes once per tile. `columns` has at most scale_planes_most_taps taps and an even stride; `blocks` belongs to the
/// axis along x and is not empty.
void scale_rows_in_planes(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                          const ImageRows<std::uint8_t>& out);

}  // namespace framewire
