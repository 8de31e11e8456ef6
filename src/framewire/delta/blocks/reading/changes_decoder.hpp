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
    /// Writes the differences of the block, whose bytes are 0 before. When `bytes` are broken some are written.
    Found decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                 HostView<std::uint8_t> differences);

private:
    Found decode_runs(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> differences);

    StepBytes bytes_;
    ReadPixels pixels_;
    RunsReader runs_;
};

}  // namespace framewire::delta
