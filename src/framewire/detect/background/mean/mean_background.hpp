#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>

namespace framewire {

/// A running mean in units of 1/65536, before its first frame this.
inline constexpr std::uint32_t no_mean = ~0u;
inline constexpr int mean_fraction_bits = 16;

/// The mean once `value` has entered it: mean + rate (value - mean), rounded half up to a unit. `rate` is in units of
/// 1/65536, too.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t mean_after(std::uint32_t mean, std::uint8_t value, std::uint32_t rate) {
    const auto difference = (std::int64_t{value} << mean_fraction_bits) - mean;
    const auto step = (difference * rate + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits;
    return static_cast<std::uint32_t>(mean + step);
}

/// The mean as a gray value, rounded half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t gray_of_mean(std::uint32_t mean) {
    return static_cast<std::uint8_t>((mean + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits);
}

/// The background as the running mean of the gray frames so far, in which the newest one counts `rate` and those before
/// it that much less each: what a frame is compared with is the mean before the frame enters it. The mean belongs to
/// the plan, 4 bytes a pixel, on CUDA in device memory. Integer arithmetic, the same bytes on every backend.
class MeanBackground {
public:
    /// `shape`: height and width of the frames; how many there are does not matter. `rate` is above 0 up to 1 and taken
    /// to the nearest 1/65536, but never as 0. Throws Error{usage} on a rate or a shape that is not allowed, one with
    /// three channels included.
    MeanBackground(double rate, const Shape& shape, Executor& executor);

    /// Forgets all it has seen. On CUDA queued on the executor's stream.
    void reset();

    /// Takes a batch of any number of frames in their order and gives the background each is to be compared with; for
    /// the very first one that is the frame itself. Both have one shape; any strides, any alignment, no overlap. On the
    /// executor's threads; returns when done.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds);
    /// Queued on the executor's stream in one launch.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds);

private:
    Shape shape_;         // of one frame
    std::uint32_t rate_;  // in units of 1/65536
    Executor* executor_;
    BackendBuffer means_;  // a row after the other
};

}  // namespace framewire
