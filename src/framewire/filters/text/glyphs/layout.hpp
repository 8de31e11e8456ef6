#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// Pixels x_begin <= x < x_end, y_begin <= y < y_end.
struct Area {
    int x_begin = 0, y_begin = 0, x_end = 0, y_end = 0;

    FRAMEWIRE_HOST_DEVICE constexpr bool empty() const { return x_begin >= x_end || y_begin >= y_end; }
    friend bool operator==(const Area&, const Area&) = default;
};

/// One glyph on the picture: its coverage and where its first pixel goes, which may lie outside.
struct PlacedGlyph {
    std::int32_t x, y;
    std::uint32_t offset;
    std::uint16_t width, height;
};

/// Where a text goes, apart from its glyphs.
struct TextPlace {
    Area covered;  ///< of the picture: glyphs and box; nothing else changes
    Area box;      ///< of the picture; empty without one
    int glyphs = 0;
};

/// Puts the glyphs of a text on their places in a picture. Allocates when made and not after.
class TextLayout {
public:
    /// `x`, `y`: of the text's left upper corner; negative from the picture's right and lower edge to the text's.
    /// `box_margin_px`: of a box around the text; below 0 there is none.
    TextLayout(int x, int y, int box_margin_px, const Shape& picture, std::size_t most_characters);

    /// Lays out lines ended by '\n'. A glyph that has no pixel on the picture is left out.
    void arrange(std::u32string_view text, const GlyphAtlas& atlas);

    const TextPlace& place() const { return place_; }
    const std::vector<PlacedGlyph>& glyphs() const { return glyphs_; }

private:
    int x_, y_, box_margin_px_;
    int width_, height_;
    TextPlace place_;
    std::vector<PlacedGlyph> glyphs_;
};

}  // namespace framewire
