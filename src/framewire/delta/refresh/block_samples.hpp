#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <cstdint>
#include <vector>

namespace framewire::delta {

/// The mean of what was seen of each block of a picture: sums of some frames, for each block from frames of its own.
/// Move-only.
class BlockSamples {
public:
    /// So many samples count at most; when there are more, all before count half.
    static constexpr int most = 64;

    /// For frames of `shape` (one frame).
    explicit BlockSamples(const Shape& shape);

    /// Forgets what was seen of a block.
    void clear(int block) { counts_[static_cast<std::size_t>(block)] = 0; }
    /// Makes one sample of all there are: their mean.
    void condense(int block);
    /// Adds the block of a frame.
    void add(int block, HostView<const std::uint8_t> frame);
    int count(int block) const { return counts_[static_cast<std::size_t>(block)]; }
    /// The mean of row `row` of the block, 0 its first, rounded to nearest, as bytes: of its width times the channels.
    /// There is a sample.
    void mean(int block, int row, std::uint8_t* out) const;

private:
    std::uint16_t* sums(int block, int row) const;

    BlockGrid grid_;
    int channels_;
    HostBuffer sums_;  // block by block, rows of the same size
    std::vector<std::uint8_t> counts_;
};

}  // namespace framewire::delta
