#pragma once

#include "framewire/core/rows/image_rows.hpp"
#include "framewire/filters/scale/scale.hpp"
#include "framewire/filters/scale/scale_blocks.hpp"

#include <cstdint>

namespace framewire {

/// Most taps of the columns that scale_rows_in_planes() keeps rows for.
inline constexpr int scale_planes_most_taps = 32;

/// Rows of Scale's result from rows of its image, on the calling thread: tiles of rows, whose channels are taken apart
/// once per row of the image. `columns` has at most scale_planes_most_taps taps, its stride is even, and `blocks` are
/// those of the axis along x, and not empty.
void scale_rows_in_planes(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                          const ImageRows<std::uint8_t>& out);

}  // namespace framewire
