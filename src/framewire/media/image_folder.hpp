#pragma once

#include <string>
#include <vector>

namespace framewire {

/// Paths of a folder's images: its files that end in .png .jpg .jpeg .bmp .tif .tiff .webp .pgm .ppm or .pnm, in small
/// or capital letters, sorted by the bytes of their names (as Python's sorted() and `LC_ALL=C ls` do). What else is in
/// it is left out with one warning, but hidden files without a word; folders in it are not looked into. No image is
/// opened. Throws Error{no_input} when there is none or the folder cannot be read.
std::vector<std::string> images_in(const std::string& folder);

/// The same without words, and empty where there is none or the folder cannot be read.
std::vector<std::string> image_paths(const std::string& folder);

}  // namespace framewire
