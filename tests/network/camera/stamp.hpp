#pragma once

// A frame's number drawn into the corner of its picture: 32 squares of 8 x 8 pixels in two rows, dark for 0 and bright
// for 1, so that it outlasts every threshold. 24 bits are the number, 8 a check.

#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>

namespace framewire::network {

/// The least picture with room for it.
inline constexpr int stamp_width_px = 128, stamp_height_px = 16;
inline constexpr std::uint32_t stamp_numbers = 1u << 24;

/// Draws `number`, below stamp_numbers, into one picture of any channels.
void draw_stamp(HostView<std::uint8_t> picture, std::uint32_t number);
/// The number drawn; nothing where there is none, or parts of several.
std::optional<std::uint32_t> read_stamp(HostView<const std::uint8_t> picture);

}  // namespace framewire::network
