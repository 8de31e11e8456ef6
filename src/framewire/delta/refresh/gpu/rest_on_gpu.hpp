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

/// Refinement on the GPU, with the same result as RestOnHost. All work is queued on the executor's stream; no call
/// waits.
class RestOnGpu {
public:
    /// For frames of `shape`. Keeps a reference to `executor`. Throws Error{config} if memory is exhausted.
    RestOnGpu(const Shape& shape, Executor& executor);

    /// See RestSharpener::take_step().
    void take_step(const ChangesView<MemorySpace::device>& changes);
    /// See RestSharpener::take_blocks().
    void take_blocks(const std::uint32_t* off);
    /// Refines R and starts the download of the result to `step`. Throws Error{usage} if `step` was made for the CPU.
    void sharpen(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const RestTurn& turn,
                 SharperStep& step);

private:
    RestingMemory memory() const;

    Shape shape_;
    Executor* executor_;
    Encoder encoder_;  // finds the changes from R to the target
    cuda::DeviceImage target_;
    cuda::DeviceBuffer account_, new_picture_, cells_, changed_, off_, sums_, samples_, chosen_;
};

}  // namespace framewire::delta
