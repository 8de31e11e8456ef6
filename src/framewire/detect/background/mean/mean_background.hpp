#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// Value of a running mean before its first frame. Means are in units of 1/65536.
inline constexpr std::uint32_t no_mean = ~0u;
inline constexpr int mean_fraction_bits = 16;

/// Returns the mean after `value` has entered: mean + rate (value - mean), rounded half up to a unit. `rate` is
/// in units of 1/65536 too.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t mean_after(std::uint32_t mean, std::uint8_t value, std::uint32_t rate) {
    const auto difference = (std::int64_t{value} << mean_fraction_bits) - mean;
    const auto step = (difference * rate + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits;
    return static_cast<std::uint32_t>(mean + step);
}

/// Returns the mean as a gray value, rounded half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t gray_of_mean(std::uint32_t mean) {
    return static_cast<std::uint8_t>((mean + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits);
}

/// Background model that is the exponential running mean of the gray frames. Each frame is compared with the
/// mean before the frame enters it. The plan owns the means, 4 bytes per pixel, in device memory on CUDA.
/// Integer arithmetic gives the same bytes on every backend.
class MeanBackground {
public:
    /// `shape` gives height and width of the frames; its number of frames is ignored. `rate` is above 0 up to 1
    /// and rounded to the nearest 1/65536, but never to 0. Throws Error{usage} if the rate or the shape is not
    /// allowed; only one channel is.
    MeanBackground(double rate, const Shape& shape, Executor& executor);

    /// Forgets all frames. On CUDA the call is queued on the executor's stream.
    void reset();

    /// Processes a batch of any number of frames in order and writes the background that each is to be compared
    /// with; for the very first frame that is the frame itself. Frames and backgrounds have the same shape, any
    /// strides and alignment, and must not overlap. Runs on the executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds);
    /// The same, queued on the executor's stream in one launch.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds);

private:
    Shape shape_;         // of one frame
    std::uint32_t rate_;  // in units of 1/65536
    Executor* executor_;
    BackendBuffer means_;  // row after row
};

}  // namespace framewire
