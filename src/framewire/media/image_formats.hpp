#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/media.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// Returns true if a file starts with the signature of TIFF or BigTIFF.
bool is_tiff(const std::string& path);

/// Opens a TIFF file with libtiff; its pages are the frames, and reduced-resolution copies of pages are skipped. Gray
/// pages have 1 channel, pages whose size differs from the first are scaled to it, and transparent pixels are
/// composited on black. Returns null for a single picture in strips whose samples libtiff cannot convert to colours,
/// such as floats; FFmpeg reads some of these. Throws as open_source() does.
std::unique_ptr<Source> open_tiff_source(const std::string& path, const SourceOptions& options);

/// Composites a picture with transparency on black, for all readers of this module: `value * alpha / 255`, rounded, on
/// the stored (gamma-encoded) values. Viewers and ImageMagick's `-background black -flatten` do the same. `pixels` is
/// BGR and alpha, or gray and alpha if `image` has 1 channel, in rows `stride_bytes` apart.
void lay_on_black(const std::uint8_t* pixels, std::ptrdiff_t stride_bytes, HostView<std::uint8_t> image);

/// Encodes one gray or BGR image as a JPEG file (baseline, chroma at half width and height); `quality` is 1 to 100.
std::string encode_jpeg(HostView<const std::uint8_t> image, int quality = 85);

/// Opens a PNG file as a Source of one frame. Gray files give 1 channel, all others 3. The image is rotated and
/// mirrored according to its EXIF data, transparent pixels are composited on black (lay_on_black()), and 16-bit samples
/// are reduced to 8 bits. Throws Error{no_input} if the file is not a PNG or too large; read() throws
/// Error{source_lost} if it is corrupt.
std::unique_ptr<Source> open_png_source(const std::string& path, const SourceOptions& options);

/// Encodes one gray or BGR image as a PNG file.
std::vector<std::uint8_t> encode_png(HostView<const std::uint8_t> image);
/// Encodes one 16-bit gray image as a PNG file; `values` holds the rows without padding, which are stored unchanged.
std::vector<std::uint8_t> encode_gray_png_16(const std::uint16_t* values, int width, int height);

}  // namespace framewire
