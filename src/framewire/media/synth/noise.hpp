#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <vector>

namespace framewire::synth {

/// The noise of a sensor: to each byte a value of a normal distribution, from a table that every row of every frame
/// enters at a place of its own.
class SensorNoise {
public:
    /// `sigma_thousandths` in thousandths of a level; 0 adds nothing.
    SensorNoise(std::uint64_t seed, std::int64_t sigma_thousandths);

    /// out = clean + noise of frame `frame`, held to 0..255. Both have one shape.
    void add(HostView<const std::uint8_t> clean, std::int64_t frame, HostView<std::uint8_t> out) const;

private:
    std::uint64_t seed_;
    std::vector<std::int8_t> table_;
};

}  // namespace framewire::synth
