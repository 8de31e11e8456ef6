#pragma once

#include <string>
#include <vector>

namespace framewire {

/// Whether a file is an image by its name's ending: .png .jpg .jpeg .bmp .tif .tiff .webp .pgm .ppm or .pnm, in small
/// or capital letters.
bool is_image_name(const std::string& path);

/// Whether a path is that of a folder; false also where that cannot be found out, for opening it will tell why.
bool is_folder(const std::string& path);

/// Paths of a folder's images: its files that are images by their names, sorted by the bytes of these (as Python's
/// sorted() and `LC_ALL=C ls` do). What else is in it is left out with one warning, but hidden files without a word;
/// folders in it are not looked into. No image is opened. Throws Error{no_input} when there is none or the folder
/// cannot be read.
std::vector<std::string> images_in(const std::string& folder);

/// The same without words, and empty where there is none or the folder cannot be read.
std::vector<std::string> image_paths(const std::string& folder);

}  // namespace framewire
