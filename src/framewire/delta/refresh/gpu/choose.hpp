#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/refresh/gpu/resting_memory.hpp"
#include "framewire/delta/refresh/told_step.hpp"

namespace framewire::delta {

/// Chooses which cells of a frame of `shape` are sharpened, after look_at_cells(), and writes into `told`, in device
/// memory, what that is expected to take. Queued.
void choose_cells(const Shape& shape, const RestTurn& turn, const RestingMemory& memory, ToldStep* told,
                  const cuda::Stream& stream);

}  // namespace framewire::delta
