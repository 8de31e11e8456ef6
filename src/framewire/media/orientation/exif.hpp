#pragma once

#include <cstdint>
#include <span>

namespace framewire {

/// The tag Orientation of EXIF data, 1 to 8, which says how a picture lies. A TIFF file begins in the same way, and
/// says it there too: a header, and a directory of tags (TIFF 6.0, sections 2 and 8; EXIF 2.3, 4.5 and 4.6.4 A). 0
/// where there is none, also in data that are something else or cut off.
int exif_orientation(std::span<const std::uint8_t> data);

}  // namespace framewire
