#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// Where a font lies: a file, and which of the faces in it.
struct FontFile {
    std::string path;
    int face = 0;
};

/// Whether `wanted` names a font file rather than a family: it contains a slash or ends like a font file (`.ttf`,
/// `.otf`
/// ...). Decided by the text alone, whatever files there are.
bool names_font_file(std::string_view wanted);

/// The font `wanted` means: a file if names_font_file(), a family fontconfig knows ("DejaVu Sans", "monospace",
/// "DejaVu Sans:bold"), or fontconfig's default where it is empty. Throws Error{usage} when there is no such file or
/// family and Error{config} when this machine has no font at all.
FontFile find_font(const std::string& wanted);

}  // namespace framewire
