#pragma once

namespace framewire {

/// What the streaming report's camera panel sets (section 5); as it stands here it changes nothing.
struct Adjustment {
    int brightness = 0;     ///< added to each channel, -255..255
    double contrast = 1;    ///< distance from 128 times this, 0..4
    double saturation = 1;  ///< distance from the pixel's gray times this, 0..4
    double gain = 1;        ///< each channel times this, 0..8

    friend bool operator==(const Adjustment&, const Adjustment&) = default;
};

}  // namespace framewire
