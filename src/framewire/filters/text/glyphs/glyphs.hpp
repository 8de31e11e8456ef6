#pragma once

#include "framewire/filters/text/glyphs/font.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// A drawn character: its coverage in the atlas, and its position relative to the pen on the base line.
struct Glyph {
    std::uint32_t offset = 0;             ///< of its coverage: width * height bytes, row by row
    std::uint16_t width = 0, height = 0;  ///< size of its coverage, in pixels
    int left = 0, top = 0;                ///< of its first pixel, to the right of the pen and above the base line
    int advance = 0;                      ///< distance to the next pen position, in pixels
};

/// Characters of one font at one size, rasterised once by FreeType (streaming report, section 3): the coverage of each
/// pixel, 0 to 255.
class GlyphAtlas {
public:
    /// Draws `characters`. Those that the font lacks share its .notdef box. Throws Error{usage} on a file that is not a
    /// font with outlines, and if the glyphs would take more than 64 MiB.
    GlyphAtlas(const FontFile& font, int size_px, std::u32string_view characters);

    /// The glyph of one of `characters`; the .notdef box for any other.
    const Glyph& glyph(char32_t character) const;

    /// Distance from the upper edge of a line to its base line.
    int ascent_px() const { return ascent_px_; }
    /// Distance from one line to the next.
    int line_px() const { return line_px_; }

    /// Coverage of all glyphs; Glyph::offset points into it.
    const std::vector<std::uint8_t>& coverage() const { return coverage_; }

private:
    std::vector<std::pair<char32_t, Glyph>> glyphs_;  // sorted by character
    Glyph missing_;
    int ascent_px_ = 0, line_px_ = 0;
    std::vector<std::uint8_t> coverage_;
};

}  // namespace framewire
