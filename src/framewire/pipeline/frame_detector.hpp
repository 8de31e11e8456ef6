#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks/mask_region.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace framewire {

/// Runs a MotionDetector on frames in host memory, whatever the backend. Not for two threads at once.
class FrameDetector {
public:
    /// Throws as MotionDetector does. Keeps a reference to `executor`.
    FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  std::optional<MaskRegion> region = {});

    /// See MotionDetector.
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }

    /// Looks at the next frame, in the order of time, and waits until its objects are known; allocates nothing.
    void process(HostView<const std::uint8_t> frame);

    /// Of the last frame, until the next one.
    std::span<const Component> objects() const { return detector_.objects(); }
    /// How many the last frame has beyond those that were kept.
    std::int64_t objects_left_out() const;
    /// Where the last frame's foreground is: 255, elsewhere 0. `to`: one channel, any strides; waits.
    void copy_mask(HostView<std::uint8_t> to);

private:
    Executor* executor_;
    std::optional<MaskRegion> region_;
    MotionDetector detector_;
    cuda::DeviceImage device_frame_;
    HostBitMask mask_;  // on its way from the GPU
};

}  // namespace framewire
