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

/// Refinement of static regions. A threshold leaves specks of noise and ghosts in R. Cells that have not changed,
/// except by noise, for some seconds converge to the camera's temporal mean in three stages: first bytes further from
/// the mean than half of the threshold, then those further than a quarter, then all. Every byte stays within the
/// threshold of the current frame.
///
/// If single bytes of a cell change, as by noise, it goes back to the second stage; if more change, it starts over.
/// Cells that are done start over from time to time, because slow changes of light go unnoticed otherwise.
///
/// Runs on the executor's backend; both backends produce the same bytes. Uses no clock: times are those of the frames.
/// One thread may refine while another one calls took(). Move-only.
class RestSharpener {
public:
    /// Range of the time after which a cell counts as static.
    static constexpr double least_seconds = 0.1, most_seconds = 3600;
    /// Maximum bitrate of refinement, by the times of the frames.
    static constexpr double bits_per_pixel_and_second = 0.5;
    /// Maximum share of the stream's own bitrate, and the bitrate that is allowed even if that share is lower.
    static constexpr double share_of_stream = 0.1, least_bits_per_pixel_and_second = 0.01;

    /// For frames of `shape`, whose `frames` must be 1, with the given threshold. Cells count as static after
    /// `seconds`. Keeps a reference to `executor`. Throws Error{usage} if an argument is invalid, Error{config} if
    /// memory is exhausted. With a threshold of 0 there is nothing to refine.
    RestSharpener(const Shape& shape, double seconds, int threshold, Executor& executor);
    ~RestSharpener();
    RestSharpener(RestSharpener&&) noexcept;
    RestSharpener& operator=(RestSharpener&&) noexcept;

    /// Makes all cells start over, for example because R was replaced or no viewer is connected.
    void begin_anew();

    /// Reports the changes of the encoder's delta frame to the next frame, either as a list or as the number of bytes
    /// per block that were off. Call it for each frame before sharpen(); without it nothing counts as changed. The
    /// device variant is queued on the executor's stream.
    void take_step(const ChangesView<MemorySpace::host>& changes);
    /// Variant of take_step() for changes in device memory.
    void take_step(const ChangesView<MemorySpace::device>& changes);
    /// Variant of take_step() for changes per block.
    void take_step(std::span<const Summary> blocks);
    /// Variant for the CUDA backend: `off` is in device memory and has the number of changed bytes per block.
    void take_blocks(const std::uint32_t* off);

    /// The current frame and its limits.
    struct Moment {
        double seconds = 0;     ///< time of the frame
        int within = 0;         ///< threshold of the frame, within which R stays
        double room_bytes = 0;  ///< bytes that may be sent besides the encoder's delta frame
        /// Bytes that the stream has taken so far, including keyframes but not refinement. Default: infinite, so that
        /// no share of it limits refinement.
        double stream_bytes = std::numeric_limits<double>::infinity();
    };
    /// Examines the frame and R (after the encoder's delta frame). If cells are due and the budget allows it, refines R
    /// and stores the changes in `step`; otherwise `step` becomes empty. Allocates nothing. Throws Error{usage} if a
    /// view has the wrong shape.
    ///
    /// Host: returns when done. Device: queued on the executor's stream; call step.wait() before reading `step`, which
    /// must have been made for the same executor.
    void sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                 SharperStep& step);
    /// Variant of sharpen() for device memory.
    void sharpen(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> reference, const Moment& moment,
                 SharperStep& step);

    /// Reports how many bytes a step that was not empty took when packed. Thread-safe with respect to sharpen().
    void took(const SharperStep& step, std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
