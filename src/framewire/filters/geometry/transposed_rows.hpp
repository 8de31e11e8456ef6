#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/geometry/pixel_map.hpp"

#include <cstdint>

namespace framewire {

/// Rows of a transposed result that write_transposed() makes at a time: what it reads and writes stays in L1.
inline constexpr int transposed_rows = 64;

/// Rows y_begin to y_end of a frame's result, transposed_rows at most, on the calling thread; `map` is transposed and
/// leads nowhere outside. 1 or 3 channels; no overlap.
void write_transposed(const PixelMap& map, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame,
                      int y_begin, int y_end);

}  // namespace framewire
