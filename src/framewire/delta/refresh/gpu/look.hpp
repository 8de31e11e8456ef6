#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/gpu/resting_memory.hpp"
#include "framewire/delta/refresh/told_step.hpp"

#include <cstdint>

// What RestOnHost does to each cell, one warp each. All pointers into device memory; all is queued.

namespace framewire::delta {

/// Adds up what a step changed in each cell of frames of `shape`.
void count_changes(const ChangesView<MemorySpace::device>& changes, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream);
/// The same where only blocks are known: how many bytes of each changed.
void spread_blocks(const std::uint32_t* off, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream);

/// Looks at a frame: what rests, what its mean is, and of what is due how many bytes are off in R.
void look_at_cells(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> reference,
                   const RestTurn& turn, const RestingMemory& memory, const cuda::Stream& stream);

/// Writes into `target`, a copy of R, what the chosen cells are to become, and adds to `told` what that makes of the
/// errors.
void aim_cells(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> target, const RestTurn& turn,
               const RestingMemory& memory, ToldStep* told, const cuda::Stream& stream);

}  // namespace framewire::delta
