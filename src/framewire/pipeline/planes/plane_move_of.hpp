#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/filters/geometry/pixel_move.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace framewire {

/// What a move of a picture's pixels does to the samples of one of its planes, but for the colour outside; nothing
/// where they would come to lie between two of the result's.
std::optional<PixelMove> plane_move_of(const PixelMove& move, const YuvInfo& info, int plane);

/// A colour in a picture's own numbers, one for each plane.
std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding, const ThreadPool& threads);

}  // namespace framewire
