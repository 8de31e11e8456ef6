#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <string>

namespace framewire {

/// Encodes one gray or BGR image as a JPEG file (baseline, chroma at half width and height); `quality` is 1 to 100.
std::string encode_jpeg(HostView<const std::uint8_t> image, int quality = 85);

}  // namespace framewire
