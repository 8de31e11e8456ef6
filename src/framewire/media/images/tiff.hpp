#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <string>

namespace framewire {

/// True if a file begins as TIFF or BigTIFF do.
bool is_tiff(const std::string& path);

/// A TIFF file by libtiff, its pages as frames; reduced copies of a page are none. Gray pages have 1 channel, pages of
/// another size than the first's are scaled to it, and transparency lies on black. Returns null for a single picture in
/// strips whose samples libtiff makes no colours of, such as floats: FFmpeg reads some of these. Throws as
/// open_source() does.
std::unique_ptr<Source> open_tiff_source(const std::string& path, const SourceOptions& options);

}  // namespace framewire
