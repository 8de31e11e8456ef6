#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/hog/people/people_detector.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// Runs a PeopleDetector on frames in host memory, whatever the backend. Not for two threads at once.
class FramePeople {
public:
    /// Throws as PeopleDetector does. Keeps a reference to `executor`.
    FramePeople(const WindowModel& model, const PeopleParameters& parameters, const Shape& frame, Executor& executor);

    const PeopleDetector& detector() const { return detector_; }

    /// Looks at the next frame and waits until it is known who is there; allocates nothing. On the CUDA backend at full
    /// speed when the frame lies in executor.frame_memory().
    void process(HostView<const std::uint8_t> frame);

    /// Of the last frame, best first, until the next one.
    std::span<const Detection> people() const { return detector_.detections(); }

private:
    Executor* executor_;
    PeopleDetector detector_;
    cuda::DeviceImage device_frame_;  // on the CUDA backend
};

}  // namespace framewire
