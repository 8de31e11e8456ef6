#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/pictures/picture_forms.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The planes of a block in the form "whole": one for gray, else green, blue - green and red - green, modulo 256. A row
/// of zeros above each plane and a column of zeros to its left stand for the samples outside the block.
class BlockPlanes {
public:
    /// Distance between rows.
    static constexpr int stride = block_side + 16;

    /// Returns the first sample of a row; y from -1 on, and one sample to the left is readable.
    std::uint8_t* row(int plane, int y) {
        return samples_.data() +
               (static_cast<std::size_t>(plane) * (block_side + 1) + static_cast<std::size_t>(y + 1)) * stride + 16;
    }
    /// Loads a block of a picture.
    void take(HostView<const std::uint8_t> picture, const BlockPlace& block);
    /// Stores a block to a picture.
    void give(HostView<std::uint8_t> picture, const BlockPlace& block);

private:
    std::array<std::uint8_t, 3 * (block_side + 1) * stride + 16> samples_{};
};

/// Sum of the absolute residuals of a sub-block in one plane, per predictor.
using ResidualSums = std::array<std::uint32_t, predictors>;

// In the functions below, `sample` is the first sample of a sub-block in BlockPlanes: rows are `BlockPlanes::stride`
// apart, and the row above and the column to the left are readable. Residuals are folded: 0, -1, 1, -2, 2 ... become 0,
// 1, 2, 3, 4 ...

/// Computes the sums for all sub-blocks of 8x8 samples in a row of a block, beginning at `sample`. Sums of sub-blocks
/// that are smaller or outside the block are meaningless.
void sum_residuals(const std::uint8_t* sample, std::array<ResidualSums, parts_per_row>& sums);
/// Computes the sums for one sub-block of any size.
ResidualSums sum_residuals(const std::uint8_t* sample, int width, int height);
/// Computes the folded residuals of a sub-block, in rows without gaps.
void take_residuals(const std::uint8_t* sample, Predictor by, int width, int height, std::uint8_t* residuals);
/// Inverse of take_residuals(): reconstructs the samples in place. Neighbouring sub-blocks must be reconstructed
/// already.
void add_residuals(std::uint8_t* sample, Predictor by, int width, int height, const std::uint8_t* residuals);

}  // namespace framewire::delta
