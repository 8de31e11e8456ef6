#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/comparing/encoder_layout.hpp"

#include <cstdint>
#include <span>

namespace framewire::delta {

/// What a launch of the CUDA encoder does for one of its streams: as Encoder::encode(), of one frame.
struct StreamLaunch {
    DeviceView<const std::uint8_t> current;
    DeviceView<std::uint8_t> reference;
    ChangesView<MemorySpace::device> changes;
    int threshold = 0;
};

/// Queues one launch for 1 to cuda_streams_per_launch streams, wherever each has its memory. Frames have the shape
/// `frame`; all that are compared have one row stride, and all references one. `workspace` has room for so many
/// streams, and launches that share one follow each other. Looks at none of this.
void queue_encoding(std::span<const StreamLaunch> streams, const Shape& frame, const CudaWorkspace& workspace,
                    const cuda::Stream& stream);

}  // namespace framewire::delta
