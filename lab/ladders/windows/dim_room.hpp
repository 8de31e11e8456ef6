#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire::bench {

/// Two frames of somebody before a webcam in a dim room, who moves the head a little between them (streaming and
/// filters report of 2022, figures 30 and 31). Its noise is coarse, as those cameras' is once it has been compressed,
/// and set so that of 1920x1080 about as many bytes differ by more than 20 as in the report's frames: 5.93 %, and
/// 3.37 % after a mean of 3 pixels.
struct DimRoom {
    HostImage first, second;

    explicit DimRoom(const Shape& shape);
};

/// The image with one pixel in twenty black and one in twenty white (figure 41).
HostImage with_salt_and_pepper(HostView<const std::uint8_t> image);

}  // namespace framewire::bench
