#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/geometry/pixel_map.hpp"

#include <cstdint>

namespace framewire {

/// Most rows of a transposed result per call of write_transposed(). What it reads and writes then stays in the L1
/// cache.
inline constexpr int transposed_rows = 64;

/// Writes rows y_begin to y_end - 1 of one frame's result, at most transposed_rows, on the calling thread. `map` is
/// transposed and leads nowhere outside. 1 or 3 channels; `in` and `out` must not overlap.
void write_transposed(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      int y_begin, int y_end);

}  // namespace framewire
