#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"

#include <span>

namespace framewire::delta {

/// One stream's changes on the GPU, and where they land.
struct Landing {
    ChangesView<MemorySpace::device> from;
    ChangesView<MemorySpace::host> to;  ///< in pinned memory
};

/// Queues one launch that writes the changes of 1 to cuda_streams_per_launch streams to the host: each one's summary,
/// and so many of its changes as have room. How many there are is read on the GPU.
void queue_landing(std::span<const Landing> streams, const cuda::Stream& stream);

}  // namespace framewire::delta
