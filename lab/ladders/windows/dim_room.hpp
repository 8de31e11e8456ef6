#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::bench {

/// Two frames of a person at a webcam in a dim room, whose head moves a little between them (streaming and filters
/// report of 2022, figures 30 and 31). The noise is coarse, like that of such cameras after compression, and tuned so
/// that in 1920x1080 about as many bytes differ by more than 20 as in the report's frames: 5.93 %, and 3.37 % after a
/// mean of 3 pixels.
struct DimRoom {
    HostImage first, second;

    explicit DimRoom(const Shape& shape);
};

/// Returns the image with one pixel in twenty black and one in twenty white (figure 41).
HostImage with_salt_and_pepper(HostView<const std::uint8_t> image);

}  // namespace framewire::bench
