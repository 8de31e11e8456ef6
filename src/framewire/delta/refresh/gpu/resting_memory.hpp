#pragma once

#include "framewire/delta/refresh/rest_formulas.hpp"

#include <cstdint>

namespace framewire::delta {

/// What rests in a stream, in device memory: zeros at first.
struct RestingMemory {
    RestAccount* account;
    std::uint32_t* new_picture;  ///< not 0: the step to the frame at hand is_new_picture()
    // Of each cell:
    RestingCell* cells;
    std::uint32_t* changed;  ///< bytes, by that step
    std::uint32_t* off;      ///< where it is due: bytes that each of the stages would change
    std::uint16_t* sums;     ///< of the samples of each byte; cells at the edges take as much as others
    std::uint8_t* samples;   ///< how many they are of
    std::uint8_t* chosen;    ///< not 0: is sharpened
};

}  // namespace framewire::delta
