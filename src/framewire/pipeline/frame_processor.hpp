#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/pipeline/chain_plan.hpp"

#include <cstdint>

namespace framewire {

/// Runs a filter chain on frames in host memory, whatever the backend. Not for two threads at once.
class FrameProcessor {
public:
    /// Throws as ChainPlan does. Keeps a reference to `executor`.
    FrameProcessor(const Chain& chain, const Shape& frame, Executor& executor);

    /// True when there is no filter: what process() does is a copy.
    bool empty() const { return plan_.empty(); }
    const Shape& output_shape() const { return plan_.output_shape(); }

    /// As ChainPlan's.
    bool shows_frame_values() const { return plan_.shows_frame_values(); }
    void set_frame_values(const FrameValues& values) { plan_.set_frame_values(values); }
    bool set_adjustment(const Adjustment& adjustment) { return plan_.set_adjustment(adjustment); }
    std::vector<ChainFigures> figures() const { return plan_.figures(); }

    /// The next frame through the chain; returns when `out` holds the result. On the CUDA backend: up, through and down
    /// on the executor's stream with one synchronization, at full speed when both images lie in
    /// executor.frame_memory().
    void process(HostView<const std::uint8_t> in, HostView<std::uint8_t> out);

private:
    Executor* executor_;
    ChainPlan plan_;
    cuda::DeviceImage device_in_, device_out_;  // on the CUDA backend
};

}  // namespace framewire
