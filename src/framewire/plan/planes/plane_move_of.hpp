#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/filters/geometry.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace framewire {

/// Returns the movement of the samples of one plane for a movement of a picture's pixels, without the colour
/// outside; nothing if samples would be placed between two samples of the result.
std::optional<PixelMove> plane_move_of(const PixelMove& move, const YuvInfo& info, int plane);

/// A colour in a picture's own numbers, one for each plane.
std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding, const ThreadPool& threads);

}  // namespace framewire
