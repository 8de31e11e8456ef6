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

/// A block and its changed sub-blocks.
struct ChangedBlock {
    BlockPlace place;  ///< position in the frame
    PartSet parts;     ///< the changed sub-blocks
    int samples;       ///< number of changed samples
};

/// Encoder for the forms "changes" and "changes in runs" of format.md. It works on differences and never reads the
/// pictures. Not thread-safe; keeps its memory between calls.
class ChangesEncoder {
public:
    /// Codes blocks of `differences`, which has the shape of the frame and rows without gaps and holds new minus old
    /// modulo 256, 0 for unchanged bytes. Every change must differ from 0 by more than `threshold`. Appends the coded
    /// blocks, at most `at_once`, to `out`, writes their sizes to `sizes`, and clears the differences of the changed
    /// sub-blocks.
    void encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

    /// Maximum number of blocks per call of encode(), which interleaves their rANS states.
    static constexpr std::size_t at_once = 8;

private:
    void add_block(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);
    /// Returns false, with `symbols` empty, if the block is better coded without runs.
    bool add_runs(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);

    StepPlanes planes_;
    RunsPart runs_part_;
    std::array<Symbols, at_once> symbols_;
};

}  // namespace framewire::delta
