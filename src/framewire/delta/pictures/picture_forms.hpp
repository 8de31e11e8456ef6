#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <cstdint>

namespace framewire::delta {

/// Prediction of a sample in a plane: left + above - above left (`slope`), the left neighbour, or the upper one. The
/// values are those of the format.
enum class Predictor : std::uint8_t { slope = 0, left = 1, above = 2 };
/// Number of predictors.
inline constexpr int predictors = 3;

/// First four bytes of a block of a keyframe. A block of a delta frame has a state there, which is never that small.
inline constexpr std::uint32_t form_whole = 1, form_plain = 2;
/// Size of that number in bytes.
inline constexpr int form_bytes = 4;

}  // namespace framewire::delta
