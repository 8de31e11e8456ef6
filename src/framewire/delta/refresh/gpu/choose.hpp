#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/refresh/gpu/resting_memory.hpp"
#include "framewire/delta/refresh/told_step.hpp"

namespace framewire::delta {

/// Chooses the cells of a frame of `shape` to refine, after look_at_cells(), and writes their number of changes and the
/// expected size to `told`, in device memory. Queued on `stream`: one launch.
void choose_cells(const Shape& shape, const RestTurn& turn, const RestingMemory& memory, ToldStep* told,
                  const cuda::Stream& stream);

}  // namespace framewire::delta
