#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <algorithm>
#include <cstddef>

namespace framewire::delta {

/// Query for blocks of a picture from which nothing may be predicted, for example because they are damaged.
class AvoidedBlocks {
public:
    /// `blocks` has one entry per block of the grid of `frame` and must outlive this object.
    AvoidedBlocks(const Shape& frame, const BlockSet& blocks) : frame_(frame), grid_(frame), blocks_(&blocks) {}

    /// Returns true if the rectangle from (left, top) to (right, bottom), both included, touches such a block.
    /// Coordinates outside the frame are clamped to it.
    bool has(int left, int top, int right, int bottom) const {
        const auto column = [&](int x) { return std::clamp(x, 0, frame_.width - 1) / block_side; };
        const auto row = [&](int y) { return std::clamp(y, 0, frame_.height - 1) / block_side; };
        for (int y = row(top); y <= row(bottom); ++y)
            for (int x = column(left); x <= column(right); ++x)
                if ((*blocks_)[static_cast<std::size_t>(y * grid_.columns() + x)]) return true;
        return false;
    }

private:
    Shape frame_;
    BlockGrid grid_;
    const BlockSet* blocks_;
};

}  // namespace framewire::delta
