#pragma once

#include "framewire/media/media.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// A PNG file as a Source of one frame: gray files give 1 channel, all others 3; it is turned as its EXIF data say,
/// transparency lies on black (lay_on_black()), 16 bits become 8. Throws Error{no_input} when it is no PNG or too
/// large; a broken one is Error{source_lost} when read.
std::unique_ptr<Source> open_png_source(const std::string& path, const SourceOptions& options);

/// One image as the bytes of a PNG file.
std::vector<std::uint8_t> encode_png(HostView<const std::uint8_t> image);
/// One gray image of 16 bits, its rows without gaps: the values as they are.
std::vector<std::uint8_t> encode_gray_png_16(const std::uint16_t* values, int width, int height);

}  // namespace framewire
