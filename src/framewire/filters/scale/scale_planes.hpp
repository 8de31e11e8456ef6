#pragma once

#include "framewire/core/rows/image_rows.hpp"
#include "framewire/filters/scale/scale.hpp"
#include "framewire/filters/scale/scale_blocks.hpp"

#include <cstdint>

namespace framewire {

/// Most column taps that scale_rows_in_planes() supports.
inline constexpr int scale_planes_most_taps = 32;

/// Makes rows of a scaled image on the calling thread, tile by tile. The channels of each image row are split into
/// planes once per tile. `columns` has at most scale_planes_most_taps taps and an even stride; `blocks` belongs to the
/// axis along x and is not empty.
void scale_rows_in_planes(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                          const ImageRows<std::uint8_t>& out);

}  // namespace framewire
