#pragma once

#include <cstdint>

namespace framewire {

/// Camera settings that a viewer's control panel changes while a job runs (streaming report, section 5). The defaults
/// change nothing.
struct Adjustment {
    int brightness = 0;     ///< added to each channel, -255..255
    double contrast = 1;    ///< factor for a channel's distance from 128, 0..4
    double saturation = 1;  ///< factor for a channel's distance from the pixel's gray, 0..4
    double gain = 1;        ///< factor for each channel, applied first, 0..8

    friend bool operator==(const Adjustment&, const Adjustment&) = default;
};

/// The four settings as the fixed-point terms of adjust's formula (see class Adjust).
struct alignas(8) AdjustTerms {     // one atomic word
    std::int16_t slope = 512;       ///< 512 * gain * contrast, 0..16384
    std::int16_t offset = 0;        ///< brightness + 128 * (1 - contrast), -639..383
    std::int16_t saturation = 256;  ///< 256 * saturation, 0..1024

    friend bool operator==(const AdjustTerms&, const AdjustTerms&) = default;
};

}  // namespace framewire
