#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry/pixel_map.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>

namespace framewire {

/// Pixels of an image at other places, unchanged: what crop, flip, pad and turns by right angles have in common. Where
/// the map leads outside the image there is a colour. In: any strides, any alignment; out: likewise; no overlap. 1 or 3
/// channels.
class PixelMoves {
public:
    /// `from` and `to` are the shapes of image and result, of the same frames and channels. Throws Error{usage} on
    /// shapes that are not allowed, Error{internal} on a transposed map that leads outside.
    PixelMoves(const PixelMap& map, Pixel outside, const Shape& from, const Shape& to, Executor& executor);

    const Shape& output_shape() const { return to_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter: where rows stay rows.
    bool goes_by_rows() const;
    RowRange rows_needed(const RowRange& made) const;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    PixelMap map_;
    Pixel outside_;
    Shape from_, to_;
    Executor* executor_;
    HostBuffer outside_row_;  // CPU: a row of the result with nothing of the image
};

}  // namespace framewire
