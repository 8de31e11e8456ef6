#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/hog/hog.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace framewire {

/// Runs Hog on frames in host memory, whatever the backend. On the CUDA backend several frames are under way at once,
/// each on a stream of its own: while one is computed the next goes up and the one before comes down (the streams of
/// the HOG report, section 8).
class FrameHog {
public:
    static constexpr int most_streams = 8;

    /// How many frames at once: `wanted`, 1 to 8, or what suits the backend, 3 on CUDA. The CPU's threads share a
    /// frame, so there it is 1. Throws Error{usage}.
    static int streams_on(Backend backend, std::optional<int> wanted = {});

    /// `streams` as above; `slots` is how many frames may be started and not yet waited for. Throws as Hog does, and
    /// Error{usage}. Keeps a reference to `executor`.
    FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor, int streams = 1, int slots = 1);
    /// Waits for what was started.
    ~FrameHog();
    FrameHog(const FrameHog&) = delete;
    FrameHog& operator=(const FrameHog&) = delete;

    const HogShape& output_shape() const { return output_shape_; }

    /// Begins the next frame, whose descriptors are in `out` after wait(slot); until then both stay where they are and
    /// the slot is not used again. Slots are numbered from 0. Allocates nothing; on the CUDA backend at full speed, and
    /// returning at once, when both lie in executor.frame_memory(). Not for two threads at once.
    void start(int slot, HostView<const std::uint8_t> frame, HogView<float, MemorySpace::host> out);
    /// Returns when the slot's descriptors are there; throws what computing them failed with. One thread may wait while
    /// another starts.
    void wait(int slot);
    /// Both, with the first slot.
    void process(HostView<const std::uint8_t> frame, HogView<float, MemorySpace::host> out) {
        start(0, frame, out);
        wait(0);
    }

private:
    // What one frame at a time runs on. Frames take turns, so that of two on one stream the first one started is over
    // first; a stream's order is what keeps them apart in its memory.
    struct Lane {
        Lane(const HogParameters& parameters, const Shape& shape, Executor& executor);

        cuda::Stream stream;
        Hog hog;
        cuda::DeviceImage frame;
        cuda::DeviceBuffer out;
    };

    HogShape output_shape_;
    int slots_;
    std::optional<Hog> on_host_;                // on the CPU backend
    std::vector<std::unique_ptr<Lane>> lanes_;  // on the CUDA backend
    std::size_t next_lane_ = 0;
    std::vector<cuda::Event> done_;  // a slot's, on the CUDA backend
};

}  // namespace framewire
