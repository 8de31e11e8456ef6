#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <string>

namespace framewire {

/// One image, gray or BGR, as the bytes of a JPEG file (baseline, colours at half width and height); `quality` is from
/// 1 to 100.
std::string encode_jpeg(HostView<const std::uint8_t> image, int quality = 85);

}  // namespace framewire
