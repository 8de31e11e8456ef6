#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/blocks/reading/changes_reading.hpp"
#include "framewire/delta/blocks/reading/runs_reader.hpp"
#include "framewire/delta/entropy/step_reader.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// Reads blocks in the forms "changes" and "changes in runs" of format.md. Bytes that no encoder makes are refused, not
/// all of them: those read as some changes within the block.
class ChangesDecoder {
public:
    using Found = FoundChanges;
    /// Writes the differences of the parts that change to `tile`, which has a whole block's pixels, at the frame's
    /// edges too. When `bytes` are broken some are written. `held`: the frame they are for, whose bytes are brought
    /// near.
    Found decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                 HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

private:
    Found decode_runs(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> tile, HostView<const std::uint8_t> held);

    StepBytes bytes_;
    ReadPixels pixels_;
    RunsReader runs_;
};

}  // namespace framewire::delta
