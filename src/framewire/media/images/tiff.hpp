#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// True if a file starts with the signature of TIFF or BigTIFF.
bool is_tiff(const std::string& path);

/// Opens a TIFF file with libtiff; its pages are the frames, and reduced-resolution copies of pages are skipped. Gray
/// pages have 1 channel, pages whose size differs from the first are scaled to it, and transparent pixels are
/// composited on black. Returns null for a single picture in strips whose samples libtiff cannot convert to colours,
/// such as floats; FFmpeg reads some of these. Throws as open_source() does.
std::unique_ptr<Source> open_tiff_source(const std::string& path, const SourceOptions& options);

}  // namespace framewire
