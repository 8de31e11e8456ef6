#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The steps of a block's pixels as an encoder of changes needs them: vectors of rows of parts. Nothing outside the
/// block counts, so a border of zeros lies around.
class StepPlanes {
public:
    static constexpr std::size_t stride = block_side + 2 * part_side;

    std::int16_t* steps(int channel, int x, int y) { return &steps_[static_cast<std::size_t>(channel)][at(x, y)]; }
    /// Of each pixel whether none (0), some (1) or all (2) of its channels change.
    std::uint8_t* extent(int x, int y) { return &extents_[at(x, y)]; }
    /// Whether any goes up (1), any down (2), or both (3).
    std::uint8_t* direction(int x, int y) { return &directions_[at(x, y)]; }

    /// Makes a part what it was at first.
    void clear_part(int left, int top);

private:
    static constexpr std::size_t border_rows = 2, size = (block_side + border_rows) * stride;
    static std::size_t at(int x, int y) {
        return (static_cast<std::size_t>(y) + border_rows) * stride + static_cast<std::size_t>(x + part_side);
    }

    std::array<std::array<std::int16_t, size>, 3> steps_{};
    std::array<std::uint8_t, size> extents_{}, directions_{};
};

/// What the pixels of a row of a part do, of the block's ones.
enum class RowKind : std::uint8_t {
    stays,  ///< none changes
    alike,  ///< in each of them all channels go up, or all go down
    mixed
};

/// What the symbols of a row of a part are, one number for each pixel. Where something does not change, what says how
/// it does means nothing.
struct RowSymbols {
    RowKind kind;
    std::array<std::uint16_t, part_side> changed;  ///< of step_models: the first symbol of the pixel's changed model
    std::array<std::uint16_t, part_side> pattern;  ///< of the 27 patterns, 0 where the pixel stays
    std::array<std::uint16_t, part_side> by;       ///< of step_models: the first symbol of the model of pattern or sign
    std::array<std::array<std::uint16_t, part_side>, 3> magnitude;  ///< the same of each channel's magnitude
    std::array<std::array<std::uint16_t, part_side>, 3> folded;  ///< how far each channel's is from what was expected
};

using PartSymbols = std::array<RowSymbols, part_side>;

/// Finds the steps of a part from its differences, writes them into `planes`, and finds its symbols. `left` and `top`:
/// its first pixel in the block.
void find_part_symbols(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                       int top, StepPlanes& planes, PartSymbols& symbols);

}  // namespace framewire::delta
