#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"

#include <cstdint>

namespace framewire::delta {

/// Compares a batch of frames with R. Lists the blocks in which some byte differs by more than the threshold. Adds the
/// number of such bytes and the errors of all other blocks to `summaries`, which must be zero before, and writes the
/// number of such bytes per block to `off`. All pointers are to device memory. Queued on `stream`: one launch.
void compare_blocks(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference, int threshold,
                    const BlockList& list, Summary* summaries, std::uint32_t* off, const cuda::Stream& stream);

}  // namespace framewire::delta
