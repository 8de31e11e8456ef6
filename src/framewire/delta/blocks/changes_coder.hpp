#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/blocks/parts/part_entries.hpp"
#include "framewire/delta/blocks/parts/part_runs.hpp"
#include "framewire/delta/entropy/symbols.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// A block, and those of its parts that change.
struct ChangedBlock {
    BlockPlace place;
    PartSet parts;
    int samples;  ///< how many change
};

/// A block's changes as differences, in the forms "changes" and "changes in runs" of format.md. Knows nothing of the
/// picture they belong to.
class ChangesEncoder {
public:
    /// `differences`: of the frame, rows without gaps, new minus old modulo 256; 0 where a byte stays. Changes are
    /// further than `threshold` from 0. Appends the blocks, `at_once` at most, to `out`, each with `sizes` bytes, and
    /// sets their differences to 0.
    void encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

    static constexpr std::size_t at_once = 8;

private:
    void add_block(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);
    /// False where it is better not in runs.
    bool add_runs(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);

    StepPlanes planes_;
    RunsPart runs_part_;
    std::array<Symbols, at_once> symbols_;
};

}  // namespace framewire::delta
