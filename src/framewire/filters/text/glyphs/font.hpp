#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// A font: a file, and the index of a face in it.
struct FontFile {
    /// Path of the file.
    std::string path;
    /// Index of the face.
    int face = 0;
};

/// Returns true if `wanted` names a font file rather than a family: if it contains a slash or has the extension of a
/// font file (`.ttf`, `.otf` ...). Decided by the text alone, not by the files that exist.
bool names_font_file(std::string_view wanted);

/// Finds the font that `wanted` names: a file if names_font_file(), otherwise a family that fontconfig knows ("DejaVu
/// Sans", "monospace", "DejaVu Sans:bold"), or fontconfig's default if it is empty. Throws Error{usage} if there is no
/// such file or family, Error{config} if the machine has no fonts.
FontFile find_font(const std::string& wanted);

}  // namespace framewire
