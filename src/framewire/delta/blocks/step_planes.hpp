#pragma once

#include "framewire/delta/blocks/grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framewire::delta {

/// Steps of a block's pixels in one plane per channel, as the SIMD encoder reads them: eight pixels of a row at a time.
/// A border of zeros stands for the pixels outside the block.
class StepPlanes {
public:
    /// Distance between rows in elements; the border has 8 columns on each side.
    static constexpr std::size_t stride = block_side + 2 * part_side;

    /// Returns the address of a pixel's step; up to 8 columns to the left and right and 2 rows above are allowed.
    std::int16_t* steps(int channel, int x, int y) { return &steps_[static_cast<std::size_t>(channel)][at(x, y)]; }
    /// Returns the address of a pixel's E: no (0), some (1) or all (2) of its channels change.
    std::uint8_t* extent(int x, int y) { return &extents_[at(x, y)]; }
    /// Returns the address of a pixel's D: some channel goes up (1), some goes down (2), or both (3).
    std::uint8_t* direction(int x, int y) { return &directions_[at(x, y)]; }

    /// Clears the sub-block at (left, top). A block must be clear before it is coded.
    void clear_part(int left, int top) {
        for (int y = top; y < top + part_side; ++y) {
            for (int channel = 0; channel < 3; ++channel)
                std::memset(steps(channel, left, y), 0, part_side * sizeof(std::int16_t));
            std::memset(extent(left, y), 0, part_side);
            std::memset(direction(left, y), 0, part_side);
        }
    }

private:
    static constexpr std::size_t border_rows = 2, size = (block_side + border_rows) * stride;
    static std::size_t at(int x, int y) {
        return (static_cast<std::size_t>(y) + border_rows) * stride + static_cast<std::size_t>(x + part_side);
    }

    std::array<std::array<std::int16_t, size>, 3> steps_{};
    std::array<std::uint8_t, size> extents_{}, directions_{};
};

}  // namespace framewire::delta
