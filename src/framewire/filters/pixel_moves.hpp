#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// Plan that moves pixels without changing them; the common part of crop, flip, pad and rotations by right angles.
/// Pixels whose source lies outside the image get a fixed color.
///
/// `in` and `out`: 1 or 3 channels, any strides and alignment, no overlap.
class PixelMoves {
public:
    /// `from` and `to` are the shapes of image and result, with equal frames and channels; `outside` is the color
    /// outside the image. Throws Error{usage} on shapes that are not allowed, Error{internal} if a transposed map leads
    /// outside.
    PixelMoves(const PixelMap& map, Pixel outside, const Shape& from, const Shape& to, Executor& executor);

    /// Shape of the result.
    const Shape& output_shape() const { return to_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter: where rows stay rows.
    bool goes_by_rows() const;
    /// See RowFilter::rows_needed().
    RowRange rows_needed(const RowRange& made) const;
    /// See RowFilter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    PixelMap map_;
    Pixel outside_;
    Shape from_, to_;
    Executor* executor_;
    HostBuffer outside_row_;  // CPU: a row of the result filled with the outside color
};

/// Maximum number of rows of a transposed result per call of write_transposed(). What it reads and writes then stays in
/// the L1 cache.
inline constexpr int transposed_rows = 64;

/// Writes rows y_begin to y_end - 1 of one frame's result, at most transposed_rows, on the calling thread. `map` is
/// transposed and leads nowhere outside. 1 or 3 channels; `in` and `out` must not overlap.
void write_transposed(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      int y_begin, int y_end);

}  // namespace framewire
