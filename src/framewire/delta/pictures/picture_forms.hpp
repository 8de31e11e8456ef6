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

/// The class of a part whose residuals add up to `sum`, without their signs.
FRAMEWIRE_HOST_DEVICE constexpr int residual_class(std::uint32_t sum, int samples) {
    // Their mean in 1/256, each 1.7 times the one before.
    constexpr int limits[picture_models::classes - 1] = {20, 35, 59, 101, 171, 291, 494, 840, 1429, 2429, 4129};
    const int mean = static_cast<int>(sum) * 256 / samples;
    int part_class = 0;
    for (const int limit : limits) part_class += mean > limit;
    return part_class;
}

}  // namespace framewire::delta
