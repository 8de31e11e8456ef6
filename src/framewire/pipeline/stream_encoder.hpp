#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/pipeline/chain_plan.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// A filter chain with the difference encoder behind it: frames in host memory go in, a first picture and then changes
/// in host memory come out, whatever the backend. It owns the encoder's R. Not for two threads at once.
class StreamEncoder {
public:
    /// For frames of `frame` (one a call). Throws as ChainPlan and delta::Encoder do. Keeps a reference to `executor`.
    StreamEncoder(const Chain& chain, const delta::EncoderParameters& parameters, const Shape& frame,
                  Executor& executor);

    /// Of the pictures and R.
    const Shape& shape() const { return plan_.output_shape(); }
    const delta::EncoderParameters& parameters() const { return encoder_.parameters(); }

    /// As ChainPlan's.
    bool shows_frame_values() const { return plan_.shows_frame_values(); }
    void set_frame_values(const FrameValues& values) { plan_.set_frame_values(values); }
    bool set_adjustment(const Adjustment& adjustment) { return plan_.set_adjustment(adjustment); }
    std::vector<ChainFigures> figures() const { return plan_.figures(); }

    /// The next frame; returns when `changes` (one stream of shape()) are there. For the first frame there are none: R
    /// is then the filtered frame, and true is returned. On the CUDA backend the frame goes up, and only the changes
    /// come down; at full speed when it lies in executor.frame_memory().
    bool encode(HostView<const std::uint8_t> frame, const delta::ChangesView<MemorySpace::host>& changes);

    /// The first frame's R; stays as it is from then on.
    HostView<const std::uint8_t> first_picture() const { return first_picture_.view(); }

private:
    void encode_on_host(HostView<const std::uint8_t> frame, const delta::ChangesView<MemorySpace::host>& changes);
    void encode_on_device(HostView<const std::uint8_t> frame, const delta::ChangesView<MemorySpace::host>& changes);

    Executor* executor_;
    ChainPlan plan_;
    delta::Encoder encoder_;
    bool started_ = false;
    HostImage first_picture_;

    HostImage filtered_, reference_;  // on the CPU backend

    // On the CUDA backend. The changes come down to pinned memory; the caller's need not be.
    cuda::DeviceImage device_frame_, device_filtered_, device_reference_;
    delta::DeviceChanges device_changes_;
    delta::HostChanges landing_;
};

}  // namespace framewire
