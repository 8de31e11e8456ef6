#pragma once

#include "framewire/delta/refresh/rest_formulas.hpp"

#include <cstdint>

namespace framewire::delta {

/// State of all cells of a stream, in device memory. Initially all zero.
struct RestingMemory {
    RestAccount* account;        ///< the byte budget
    std::uint32_t* new_picture;  ///< nonzero if the delta frame to the current frame satisfies is_new_picture()
    // Arrays with one entry per cell:
    RestingCell* cells;      ///< state
    std::uint32_t* changed;  ///< bytes changed by that delta frame
    std::uint32_t* off;      ///< if the cell is due: bytes that each of the stages would change
    std::uint16_t* sums;     ///< sums of the samples of each byte; cells at the edges occupy as much as others
    std::uint8_t* samples;   ///< number of samples
    std::uint8_t* chosen;    ///< nonzero if the cell is refined
};

}  // namespace framewire::delta
