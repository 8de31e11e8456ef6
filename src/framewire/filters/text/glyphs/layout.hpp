#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace framewire {

/// A rectangle of pixels: x_begin <= x < x_end, y_begin <= y < y_end.
struct Area {
    /// Bounds; the end is exclusive.
    int x_begin = 0, y_begin = 0, x_end = 0, y_end = 0;

    /// Returns true if the rectangle contains no pixel.
    FRAMEWIRE_HOST_DEVICE constexpr bool empty() const { return x_begin >= x_end || y_begin >= y_end; }
    friend bool operator==(const Area&, const Area&) = default;
};

/// A glyph in the picture: its coverage, and the position of its first pixel, which may lie outside.
struct PlacedGlyph {
    /// Position of the first pixel.
    std::int32_t x, y;
    /// Start of its coverage in the atlas.
    std::uint32_t offset;
    /// Size of its coverage.
    std::uint16_t width, height;
};

/// Extent of a text in the picture.
struct TextPlace {
    Area covered;    ///< glyphs and box, clipped to the picture; no other pixel changes
    Area box;        ///< clipped to the picture; empty without a box
    int glyphs = 0;  ///< number of glyphs
};

/// Positions the glyphs of a text in a picture. Allocates only in the constructor.
class TextLayout {
public:
    /// `x`, `y`: position of the text's upper left corner; negative values count from the picture's right and lower
    /// edges to the text's. `box_margin_px`: margin of a box around the text; negative for none. `most_characters`:
    /// capacity.
    TextLayout(int x, int y, int box_margin_px, const Shape& picture, std::size_t most_characters);

    /// Lays out lines that end with '\n'. Glyphs without a pixel in the picture are omitted.
    void arrange(std::u32string_view text, const GlyphAtlas& atlas);

    /// Extent of the text.
    const TextPlace& place() const { return place_; }
    /// The glyphs, in order of the text.
    const std::vector<PlacedGlyph>& glyphs() const { return glyphs_; }

private:
    int x_, y_, box_margin_px_;
    int width_, height_;
    TextPlace place_;
    std::vector<PlacedGlyph> glyphs_;
};

}  // namespace framewire
