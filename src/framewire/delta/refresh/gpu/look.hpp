#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/gpu/resting_memory.hpp"
#include "framewire/delta/refresh/told_step.hpp"

#include <cstdint>

// Device counterpart of RestOnHost, one warp per cell. All pointers are to device memory, and all work is queued on
// `stream`.

namespace framewire::delta {

/// Counts the bytes per cell that a delta frame changed, for frames of `shape`.
void count_changes(const ChangesView<MemorySpace::device>& changes, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream);
/// Variant of count_changes() for changes per block: `off` has the number of changed bytes of each block.
void spread_blocks(const std::uint32_t* off, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream);

/// Updates the state and the mean of each cell from a frame, and counts for each due cell how many bytes of R each
/// stage would change.
void look_at_cells(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> reference,
                   const RestTurn& turn, const RestingMemory& memory, const cuda::Stream& stream);

/// Writes the refined bytes of the chosen cells to `target`, a copy of R, and adds the change of the errors to `told`.
void aim_cells(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> target, const RestTurn& turn,
               const RestingMemory& memory, ToldStep* told, const cuda::Stream& stream);

}  // namespace framewire::delta
