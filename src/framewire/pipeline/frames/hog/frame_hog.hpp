#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// The descriptors of one frame, on their way to the host or there. Move-only.
class FrameDescriptors {
public:
    FrameDescriptors() = default;
    /// Throws Error{config} without memory.
    FrameDescriptors(const HogShape& shape, Executor& executor);

    const HogShape& shape() const { return shape_; }
    /// Returns when they are there; throws what computing them failed with.
    void wait() { transfer_.wait(); }
    std::span<const float> values() const {
        return {values_.host().as<const float>(), static_cast<std::size_t>(shape_.count())};
    }

private:
    friend class FrameHog;

    HogShape shape_{};
    cuda::Twin<BufferIn> values_;
    cuda::Transfer transfer_;  // last: it is over before the descriptors go
};

/// Runs Hog on a run's frames, of which several may be under way: while one is computed the next goes up and the one
/// before comes down (the streams of the HOG report, section 8). Not for two threads at once.
class FrameHog {
public:
    /// Throws as Hog does. Keeps a reference to `executor`.
    FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor)
        : executor_(&executor), hog_(parameters, frame, executor) {}
    /// Waits for what was started.
    ~FrameHog();
    FrameHog(const FrameHog&) = delete;
    FrameHog& operator=(const FrameHog&) = delete;

    const HogShape& output_shape() const { return hog_.output_shape(); }

    /// Begins the next frame, whose descriptors are in `out`, of output_shape(), once they are waited for. Allocates
    /// nothing. Throws Error{usage} on other shapes.
    void start(Frame& frame, FrameDescriptors& out);
    /// The same with the image that YuvToImage makes of a picture, which is then made by rows in a core's cache.
    /// Returns when done. Where goes_by_rows().
    void start(const HostYuv<const std::uint8_t>& picture, FrameDescriptors& out);
    /// The same with an image whose rows `make` makes, of the frames' channels: each once, or twice. Returns when done.
    /// Where goes_by_rows(). Throws what `make` does.
    void start(const MakeRows& make, FrameDescriptors& out);
    /// See Hog.
    bool goes_by_rows() const { return hog_.goes_by_rows(); }

private:
    Executor* executor_;
    Hog hog_;
};

}  // namespace framewire
