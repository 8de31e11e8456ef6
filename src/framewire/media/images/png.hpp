#pragma once

#include "framewire/media/media.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// Opens a PNG file as a Source of one frame. Gray files give 1 channel, all others 3. The image is rotated and
/// mirrored as its EXIF data say, transparent pixels are composited on black (lay_on_black()), and 16-bit samples are
/// reduced to 8 bits. Throws Error{no_input} if the file is not a PNG or too large; read() throws Error{source_lost}
/// if it is corrupt.
std::unique_ptr<Source> open_png_source(const std::string& path, const SourceOptions& options);

/// Encodes one gray or BGR image as a PNG file.
std::vector<std::uint8_t> encode_png(HostView<const std::uint8_t> image);
/// Encodes one 16-bit gray image as a PNG file; `values` are rows without padding and are stored unchanged.
std::vector<std::uint8_t> encode_gray_png_16(const std::uint16_t* values, int width, int height);

}  // namespace framewire
