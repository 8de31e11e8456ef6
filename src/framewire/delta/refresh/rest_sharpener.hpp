#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/sharper_step.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace framewire::delta {

/// Sharpens what rests. A threshold leaves specks of noise and ghosts in R. Cells of the picture that nothing but noise
/// changed for some seconds are brought to the mean of what the camera showed meanwhile: first the bytes further from
/// it than half of the threshold, after as long again those further than a quarter, at last all. Every byte stays
/// within the threshold of the frame at hand. A change of single bytes, as by noise, brings the second stage again;
/// where more changes, a cell begins anew. Cells that are done are looked at again from time to time.
///
/// Works where the executor's backend does, with the same bytes. Knows no clock: times are those of the frames. One
/// thread sharpens, another may tell what steps took. Move-only.
class RestSharpener {
public:
    static constexpr double least_seconds = 0.1, most_seconds = 3600;
    /// Takes at most so much, by the frames' times.
    static constexpr double bits_per_pixel_and_second = 0.5;
    /// And at most this share of what the stream takes without it, or, where that is next to nothing, so little.
    static constexpr double share_of_stream = 0.1, least_bits_per_pixel_and_second = 0.01;

    /// For frames of `shape` (one frame) within `threshold`, whose cells rest for `seconds`. Keeps a reference to
    /// `executor`. Throws Error{usage} on seconds and a threshold that are not allowed, Error{config} without memory; a
    /// threshold of 0 leaves nothing to sharpen.
    RestSharpener(const Shape& shape, double seconds, int threshold, Executor& executor);
    ~RestSharpener();
    RestSharpener(RestSharpener&&) noexcept;
    RestSharpener& operator=(RestSharpener&&) noexcept;

    /// R is new, or nobody needs it any more: nothing rests yet.
    void begin_anew();

    /// What the encoder's step to the next frame changed: its changes, or how many bytes of each block it found to be
    /// off. To be called before sharpen(), for each frame. Where it is not, nothing changed. Device: queued.
    void take_step(const ChangesView<MemorySpace::host>& changes);
    void take_step(const ChangesView<MemorySpace::device>& changes);
    void take_step(std::span<const Summary> blocks);
    /// Device: `off`, in device memory, is of each block how many.
    void take_blocks(const std::uint32_t* off);

    struct Moment {
        double seconds = 0;     ///< of the frame
        int within = 0;         ///< the threshold of the frame, which R keeps
        double room_bytes = 0;  ///< that may be sent beside the encoder's step
        /// What the stream took so far, its first picture included, but nothing that sharpened it. Default: no share
        /// of it bounds what may be taken.
        double stream_bytes = std::numeric_limits<double>::infinity();
    };
    /// Looks at the frame and at R, which that step led to. Where it is time and there is room, makes R sharper and
    /// leaves in `step` how, else an empty step. Allocates nothing. Device: queued on the executor's stream; `step`,
    /// made for that executor, is to be waited for.
    void sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                 SharperStep& step);
    void sharpen(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const Moment& moment,
                 SharperStep& step);

    /// What a step that is not empty took.
    void took(const SharperStep& step, std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
