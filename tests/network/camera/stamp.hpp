#pragma once

// A frame's number, drawn into the corner of its picture: 32 squares of 8 x 8 pixels in two rows, dark for 0 and bright
// for 1, so that it survives every threshold. 24 bits hold the number, 8 bits a check.

#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>

namespace framewire::network {

/// Size of the smallest picture that has room for the stamp.
inline constexpr int stamp_width_px = 128, stamp_height_px = 16;
inline constexpr std::uint32_t stamp_numbers = 1u << 24;

/// Draws `number`, which must be below stamp_numbers, into a picture with any number of channels.
void draw_stamp(HostView<std::uint8_t> picture, std::uint32_t number);
/// Returns the number in a picture's stamp; nullopt if there is none, or if the picture mixes several.
std::optional<std::uint32_t> read_stamp(HostView<const std::uint8_t> picture);

}  // namespace framewire::network
