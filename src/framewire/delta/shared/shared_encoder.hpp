#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/shared/common_launches.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace framewire::delta {

/// The difference encoder of many streams whose frames have one shape, on the CUDA backend, with a GPU's stream of its
/// own. Frames that come while the GPU is busy with others go together, in one launch (CommonLaunches). R, and all
/// other state, belongs to the streams: they come and go as they like. From any threads.
class SharedEncoder {
public:
    /// One stream's next frame, of the encoder's shape, without gaps.
    struct Frame {
        DeviceView<const std::uint8_t> current;
        DeviceView<std::uint8_t> reference;
        ChangesView<MemorySpace::device> changes;  ///< with room for every byte
        /// In pinned memory: where the summary goes, and as many changes as have room.
        ChangesView<MemorySpace::host> landing;
        int threshold;  ///< 0..254
    };
    struct Counts {
        std::int64_t launches = 0, frames = 0;
    };

    /// For frames of `frame`, one each. `most_under_way`: launches at once. Throws Error{usage} on a shape that is not
    /// allowed, Error{config} without a GPU or memory.
    explicit SharedEncoder(const Shape& frame, int most_under_way = 1);

    const Shape& shape() const { return frame_; }

    /// Does what Encoder::encode() does, and returns when the changes have landed. The GPU is done with all that it
    /// reads and writes here, and each stream has one frame here at a time. Throws Error{usage} on other shapes or a
    /// threshold that is not allowed, and what the launch failed with.
    void encode(Frame frame);

    /// How many frames its streams have under way, by it or by themselves: the streams count them here (UnderWay).
    std::atomic<int>& under_way() { return under_way_; }

    /// Of all frames so far.
    Counts counts() const { return {launches_, frames_}; }

private:
    void launch(int place, std::span<Frame* const> frames);

    Shape frame_;
    cuda::Stream stream_;
    cuda::DeviceBuffer workspace_;
    std::vector<cuda::Event> over_;  // by place
    std::atomic<int> under_way_ = 0;
    std::atomic<std::int64_t> launches_ = 0, frames_ = 0;
    CommonLaunches<Frame> together_;
};

/// Finds the encoder for frames of a shape, which is there as long as somebody has it. From any threads.
class SharedEncoders {
public:
    /// Throws as SharedEncoder does.
    std::shared_ptr<SharedEncoder> of(const Shape& frame);

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<SharedEncoder>> encoders_;
};

}  // namespace framewire::delta
