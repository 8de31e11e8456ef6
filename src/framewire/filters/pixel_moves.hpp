#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// Moves pixels without changing them; the common part of crop, flip, pad and rotations by right angles. Pixels whose
/// source lies outside the image get a fixed colour.
///
/// `in` and `out` have 1 or 3 channels, any strides and alignment. They must not overlap.
class PixelMoves {
public:
    /// Prepares the moves. `from` and `to` are the shapes of image and result, with equal frames and channels;
    /// `outside` is the colour outside the image. Throws Error{usage} if a shape is not allowed, Error{internal} if a
    /// transposed map reads outside the image.
    PixelMoves(const PixelMap& map, Pixel outside, const Shape& from, const Shape& to, Executor& executor);

    /// Returns the shape of the result.
    const Shape& output_shape() const { return to_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the moves on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// Returns true if the filter can run by rows (see Filter::run_rows()): if the map keeps rows as rows.
    bool works_by_rows() const;
    /// See Filter::rows_needed().
    RowRange rows_needed(const RowRange& made) const;
    /// See Filter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    PixelMap map_;
    Pixel outside_;
    Shape from_, to_;
    Executor* executor_;
    HostBuffer outside_row_;  // CPU only: a row of the result filled with the outside colour
};

/// Maximum number of rows of a transposed result per call of write_transposed(), so that the memory that it reads and
/// writes stays in the L1 cache.
inline constexpr int transposed_rows = 64;

/// Writes rows y_begin to y_end - 1 of one frame's result, at most transposed_rows, on the calling thread. `map` is
/// transposed and never reads outside the image. The images have 1 or 3 channels and must not overlap.
void write_transposed(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      int y_begin, int y_end);

}  // namespace framewire
