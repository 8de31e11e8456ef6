#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/refresh/gpu/resting_memory.hpp"
#include "framewire/delta/refresh/sharper_step.hpp"

#include <cstdint>

namespace framewire::delta {

/// What rests, and how it gets sharper, on the GPU: what RestOnHost does, with the same bytes. All is queued on the
/// executor's stream, and nothing waited for.
class RestOnGpu {
public:
    RestOnGpu(const Shape& shape, Executor& executor);

    void take_step(const ChangesView<MemorySpace::device>& changes);
    void take_blocks(const std::uint32_t* off);
    void sharpen(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const RestTurn& turn,
                 SharperStep& step);

private:
    RestingMemory memory() const;

    Shape shape_;
    Executor* executor_;
    Encoder encoder_;  // of what is to change R, each byte
    cuda::DeviceImage target_;
    cuda::DeviceBuffer account_, new_picture_, cells_, changed_, off_, sums_, samples_, chosen_;
};

}  // namespace framewire::delta
