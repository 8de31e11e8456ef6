#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <cstdint>

namespace framewire::delta {

/// What a sample of a plane is foretold by.
enum class Predictor : std::uint8_t { slope = 0, left = 1, above = 2 };
inline constexpr int predictors = 3;

/// The first four bytes of a block of a picture; those of a step are a state, which is never that small.
inline constexpr std::uint32_t form_whole = 1, form_plain = 2;
inline constexpr int form_bytes = 4;

}  // namespace framewire::delta
