#pragma once

#include <cstdint>
#include <span>

namespace framewire {

/// Orientation tag of EXIF data, 1 to 8: how the stored picture must be rotated or mirrored for display. `data` starts
/// with a TIFF header and a directory of tags (TIFF 6.0, sections 2 and 8; EXIF 2.3, 4.5 and 4.6.4 A), so the start of
/// a TIFF file works as well. Returns 0 if there is no such tag, or if `data` is something else or truncated.
int exif_orientation(std::span<const std::uint8_t> data);

}  // namespace framewire
