#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/people_detector.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/planes_image.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// The descriptors of one frame, during and after their download to the host. Move-only.
class FrameDescriptors {
public:
    FrameDescriptors() = default;
    /// Allocates memory for descriptors of `shape`. Throws Error{config} if there is not enough.
    FrameDescriptors(const HogShape& shape, Executor& executor);

    /// Returns the shape of the descriptors.
    const HogShape& shape() const { return shape_; }
    /// Blocks until the descriptors are on the host. Throws if computing them failed.
    void wait() { transfer_.wait(); }
    /// Returns the descriptors in the order of HogView.
    std::span<const float> values() const {
        return {values_.host().as<const float>(), static_cast<std::size_t>(shape_.count())};
    }

private:
    friend class FrameHog;

    HogShape shape_{};
    cuda::MirroredBuffer<BufferIn> values_;
    cuda::Transfer transfer_;  // last member: waits before the descriptors are destroyed
};

/// Runs Hog on the frames of a run, several of which may be in flight: while one frame is computed, the next one is
/// uploaded and the previous one downloaded (the streams of the HOG report, section 8). Not thread-safe.
class FrameHog {
public:
    /// Keeps a reference to `executor`. Throws what Hog throws.
    FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor)
        : executor_(&executor),
          hog_(parameters, frame, executor),
          only_gray_(hog_planes(parameters, frame.channels) == 1),
          planes_image_(frame, only_gray_) {}
    /// Waits for all frames that were started.
    ~FrameHog();
    FrameHog(const FrameHog&) = delete;
    FrameHog& operator=(const FrameHog&) = delete;

    /// Returns the shape of a frame's descriptors.
    const HogShape& output_shape() const { return hog_.output_shape(); }

    /// Starts the next frame. `out` must have output_shape() and holds the descriptors once its wait() has returned.
    /// Allocates nothing. Throws Error{usage} if a shape differs.
    void start(Frame& frame, FrameDescriptors& out);
    /// Starts the image that YuvToImage makes of a picture. Returns when done. Requires takes_planes(). The first call
    /// allocates the image.
    void start(const HostYuv<const std::uint8_t>& picture, FrameDescriptors& out);
    /// Returns the step of the descriptors of frames of this format, see stage_step().
    PlannedStep planned_step(const FrameFormat& from) const { return stage_step("hog", only_gray_, from); }
    /// Returns true if frames may be planes: on the CPU.
    bool takes_planes() const { return executor_->backend() == Backend::cpu; }

private:
    Executor* executor_;
    Hog hog_;
    bool only_gray_;
    PlanesImage planes_image_;
};

/// Starts people detection in the next frame of a run, several of which may be in flight. `people` holds the detections
/// once its wait() has returned. Allocates nothing.
inline void start(PeopleDetector& detector, Frame& frame, DetectedPeople& people, const Executor& executor) {
    executor.in_its_space(
        [&]<MemorySpace space>() { executor.step("people", [&] { detector.run(frame.in<space>(), people); }); });
    people.download();
}

}  // namespace framewire
