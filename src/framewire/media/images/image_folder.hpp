#pragma once

#include <string>
#include <vector>

namespace framewire {

/// True if the extension is that of an image: .png .jpg .jpeg .bmp .tif .tiff .webp .pgm .ppm or .pnm, in either case.
bool is_image_name(const std::string& path);

/// True if the path is a folder. Also false if that cannot be determined; opening the path then reports the reason.
bool is_folder(const std::string& path);

/// Paths of the images in a folder: files with image extensions, sorted by the bytes of their names (as Python's
/// sorted() and `LC_ALL=C ls` do). Other entries are skipped with one warning, hidden files silently; subfolders are
/// not searched. No image is opened. Throws Error{no_input} if there are no images or the folder cannot be read.
std::vector<std::string> images_in(const std::string& folder);

/// Paths as from images_in(), without warnings; empty if there are no images or the folder cannot be read.
std::vector<std::string> image_paths(const std::string& folder);

}  // namespace framewire
