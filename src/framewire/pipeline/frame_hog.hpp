#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/hog/hog.hpp"

#include <cstdint>

namespace framewire {

/// Runs Hog on frames in host memory, whatever the backend. Not for two threads at once.
class FrameHog {
public:
    /// Throws as Hog does. Keeps a reference to `executor`.
    FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor);

    const HogShape& output_shape() const { return hog_.output_shape(); }

    /// The next frame's descriptors; returns when `out` holds them, allocates nothing. On the CUDA backend at full
    /// speed when both lie in executor.frame_memory().
    void process(HostView<const std::uint8_t> frame, HogView<float, MemorySpace::host> out);

private:
    Executor* executor_;
    Hog hog_;
    cuda::DeviceImage device_frame_;  // on the CUDA backend
    cuda::DeviceBuffer device_out_;
};

}  // namespace framewire
