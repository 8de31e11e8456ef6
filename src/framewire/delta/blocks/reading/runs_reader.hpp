#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/blocks/reading/changes_reading.hpp"
#include "framewire/delta/blocks/reading/run_parts.hpp"
#include "framewire/delta/entropy/lanes.hpp"
#include "framewire/delta/entropy/step_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framewire::delta {

/// Result of reading a block of changes.
struct FoundChanges {
    bool whole;           ///< false if the bytes are broken
    std::uint32_t count;  ///< number of nonzero differences
    PartSet parts;        ///< the sub-blocks that may have differences, even if the bytes are broken
};

/// Reader for the form "changes in runs". Not thread-safe.
class RunsReader {
public:
    /// Reads a block; `bytes` begin after the number that marks the form. The other arguments and the result are those
    /// of ChangesDecoder::decode(). The caller must clear the traits of the changed sub-blocks in `pixels` afterwards.
    FoundChanges read(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held, ReadPixels& pixels);

    // Intermediate results: sub-blocks, sizes and classes of their magnitudes, and the folded magnitudes.
    std::array<RunPart, std::size_t{parts_per_row} * parts_per_row> parts;
    std::size_t part_count = 0;
    std::array<ResidualPart, 3 * std::size_t{parts_per_row} * parts_per_row> sizes;
    std::size_t size_count = 0;
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side + 2 * RunPart::padding> magnitudes;

private:
    RunPartMaker maker_;
};

}  // namespace framewire::delta
