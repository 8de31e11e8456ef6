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

/// What was read of a block of changes.
struct FoundChanges {
    bool whole;           ///< whether its bytes are not broken
    std::uint32_t count;  ///< how many differences there are
    PartSet parts;        ///< the only ones with differences, broken or not
};

/// Reads blocks in runs, behind what says that they are.
class RunsReader {
public:
    /// As ChangesDecoder::decode() has it. Parts with differences have to be cleared in `pixels` afterwards.
    FoundChanges read(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held, ReadPixels& pixels);

    // What is read before the magnitudes, and those.
    std::array<RunPart, std::size_t{parts_per_row} * parts_per_row> parts;
    std::size_t part_count = 0;
    std::array<ResidualPart, 3 * std::size_t{parts_per_row} * parts_per_row> sizes;
    std::size_t size_count = 0;
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side + 2 * RunPart::padding> magnitudes;

private:
    RunPartMaker maker_;
};

}  // namespace framewire::delta
