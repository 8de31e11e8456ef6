#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire::synth {

/// How many places of the table rows begin at.
inline constexpr std::size_t noise_places = std::size_t{1} << 20;

/// The noise of a sensor: to each byte a value of a normal distribution, from a table that every row of every frame
/// enters at a place of its own.
class SensorNoise {
public:
    /// `sigma_thousandths` in thousandths of a level; 0 adds nothing.
    SensorNoise(std::uint64_t seed, std::int64_t sigma_thousandths);

    /// out = clean + noise of frame `frame`, held to 0..255. Both have one shape.
    void add(HostView<const std::uint8_t> clean, std::int64_t frame, HostView<std::uint8_t> out) const;

private:
    friend class NoisyOnGpu;

    std::uint64_t seed_;
    std::vector<std::int8_t> table_;
};

/// The camera's picture on the current GPU and what the sensor's noise makes of it there: the same bytes as
/// SensorNoise::add().
class NoisyOnGpu {
public:
    /// Room for pictures of the shape. Waits for the GPU. Throws Error{config} without one or memory.
    NoisyOnGpu(const SensorNoise& noise, const Shape& shape);

    /// Queues the rows of `picture` from `begin` up to `end`, those that changed since the last call, and the noise of
    /// frame `frame`. The picture may change afterwards: it is not in pinned memory.
    void render(HostView<const std::uint8_t> picture, int begin, int end, std::int64_t frame,
                DeviceView<std::uint8_t> out, const cuda::Stream& stream);

private:
    std::uint64_t seed_;
    cuda::DeviceBuffer table_;  // empty: no noise
    cuda::DeviceImage picture_;
};

}  // namespace framewire::synth
