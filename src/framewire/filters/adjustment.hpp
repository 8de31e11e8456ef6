#pragma once

#include <cstdint>

namespace framewire {

/// What the streaming report's camera panel sets (section 5); as it stands here it changes nothing.
struct Adjustment {
    int brightness = 0;     ///< added to each channel, -255..255
    double contrast = 1;    ///< distance from 128 times this, 0..4
    double saturation = 1;  ///< distance from the pixel's gray times this, 0..4
    double gain = 1;        ///< each channel times this, 0..8

    friend bool operator==(const Adjustment&, const Adjustment&) = default;
};

/// The four settings as adjust's formula has them.
struct alignas(8) AdjustTerms {     // one atomic word
    std::int16_t slope = 512;       ///< 512 * gain * contrast, 0..16384
    std::int16_t offset = 0;        ///< brightness + 128 * (1 - contrast), -639..383
    std::int16_t saturation = 256;  ///< 256 * saturation, 0..1024

    friend bool operator==(const AdjustTerms&, const AdjustTerms&) = default;
};

}  // namespace framewire
