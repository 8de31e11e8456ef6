#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire::synth {

/// Number of table positions at which a row may start.
inline constexpr std::size_t noise_places = std::size_t{1} << 20;

/// Sensor noise: adds a normally distributed value to each byte. The values are read from a table at a position that
/// differs for every row of every frame. add() may be called from several threads.
class SensorNoise {
public:
    /// `sigma_thousandths` is the standard deviation in 1/1000 of a level; 0 adds nothing.
    SensorNoise(std::uint64_t seed, std::int64_t sigma_thousandths);

    /// Computes out = clamp(clean + noise of frame `frame`, 0, 255). Both views have the same shape.
    void add(HostView<const std::uint8_t> clean, std::int64_t frame, HostView<std::uint8_t> out) const;

private:
    friend class NoisyOnGpu;

    std::uint64_t seed_;
    std::vector<std::int8_t> table_;
};

/// Clean picture in the memory of the current GPU, and the noise that is added there. Gives the same bytes as
/// SensorNoise::add().
class NoisyOnGpu {
public:
    /// Allocates for pictures of the shape. Synchronizes with the GPU. Throws Error{config} without a GPU or enough
    /// memory.
    NoisyOnGpu(const SensorNoise& noise, const Shape& shape);

    /// Enqueues on `stream` the upload of rows `begin` to `end` (exclusive) of `picture`, which must include all
    /// changes since the last call, and the noise of frame `frame`. The picture may be changed after the return,
    /// because it is not in pinned memory.
    void render(HostView<const std::uint8_t> picture, int begin, int end, std::int64_t frame,
                DeviceView<std::uint8_t> out, const cuda::Stream& stream);

private:
    std::uint64_t seed_;
    cuda::DeviceBuffer table_;  // noise table; empty: no noise
    cuda::DeviceImage picture_;
};

}  // namespace framewire::synth
