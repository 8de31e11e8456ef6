#pragma once

#include <string>

namespace framewire {

/// Where a font lies: a file, and which of the faces in it.
struct FontFile {
    std::string path;
    int face = 0;
};

/// The font `wanted` means: a file by its path, a family fontconfig knows ("DejaVu Sans", "monospace",
/// "DejaVu Sans:bold"), or fontconfig's default where it is empty. Throws Error{usage} when there is no such file or
/// family and Error{config} when this machine has no font at all.
FontFile find_font(const std::string& wanted);

}  // namespace framewire
