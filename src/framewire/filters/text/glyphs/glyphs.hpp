#pragma once

#include "framewire/filters/text/glyphs/font.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// One character as drawn: where its coverage lies, and where that goes from the pen's place on the base line.
struct Glyph {
    std::uint32_t offset = 0;  ///< of its coverage, width * height bytes row by row
    std::uint16_t width = 0, height = 0;
    int left = 0, top = 0;  ///< of its first pixel: to the right of the pen, above the base line
    int advance = 0;        ///< of the pen, in pixels
};

/// Characters of one font at one size, drawn once (streaming report, section 3; FreeType in place of OpenCV's strokes):
/// how much of each pixel they cover, 0 to 255.
class GlyphAtlas {
public:
    /// Draws `characters`; those the font lacks share its .notdef box. Throws Error{usage} on a file that is no font
    /// with outlines, and where the glyphs would take more than 64 MiB.
    GlyphAtlas(const FontFile& font, int size_px, std::u32string_view characters);

    /// The glyph of one of `characters`, and of any other the .notdef box.
    const Glyph& glyph(char32_t character) const;

    /// From a line's upper edge to its base line, and to the next line.
    int ascent_px() const { return ascent_px_; }
    int line_px() const { return line_px_; }

    const std::vector<std::uint8_t>& coverage() const { return coverage_; }

private:
    std::vector<std::pair<char32_t, Glyph>> glyphs_;  // by character
    Glyph missing_;
    int ascent_px_ = 0, line_px_ = 0;
    std::vector<std::uint8_t> coverage_;
};

}  // namespace framewire
