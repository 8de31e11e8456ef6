#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/pictures/picture_forms.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The planes of a block as whole blocks are coded: a gray block's own, or green, blue less green and red less green,
/// modulo 256. Above and to the left of them lie a row and a column of zeros.
class BlockPlanes {
public:
    static constexpr int stride = block_side + 16;

    std::uint8_t* row(int plane, int y) {
        return samples_.data() +
               (static_cast<std::size_t>(plane) * (block_side + 1) + static_cast<std::size_t>(y + 1)) * stride + 16;
    }
    void take(HostView<const std::uint8_t> picture, const BlockPlace& block);
    void give(HostView<std::uint8_t> picture, const BlockPlace& block);

private:
    std::array<std::uint8_t, 3 * (block_side + 1) * stride + 16> samples_{};
};

/// Of a part of a plane: for each predictor the sum of the residuals without their signs.
using ResidualSums = std::array<std::uint32_t, predictors>;

// `sample`: the part's first one, in rows `BlockPlanes::stride` apart, with a row above and a column to the left.
// Residuals are folded: 0, -1, 1, -2, 2 ... are 0, 1, 2, 3, 4 ...

/// The sums of the parts of 8x8 samples that lie beside each other from `sample` on: all of a block's width.
void sum_residuals(const std::uint8_t* sample, std::array<ResidualSums, parts_per_row>& sums);
/// The same of one part of any size.
ResidualSums sum_residuals(const std::uint8_t* sample, int width, int height);
/// The residuals of a part, rows without gaps.
void take_residuals(const std::uint8_t* sample, Predictor by, int width, int height, std::uint8_t* residuals);
/// Undoes it.
void add_residuals(std::uint8_t* sample, Predictor by, int width, int height, const std::uint8_t* residuals);

}  // namespace framewire::delta
