#include "framewire/filters/text/glyphs/layout.hpp"

#include <algorithm>

namespace framewire {
namespace {

// The part of an area that lies in the picture.
Area clipped(Area area, int width, int height) {
    return {std::clamp(area.x_begin, 0, width), std::clamp(area.y_begin, 0, height), std::clamp(area.x_end, 0, width),
            std::clamp(area.y_end, 0, height)};
}

// The smallest area that contains both.
Area joined(const Area& a, const Area& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.x_begin, b.x_begin), std::min(a.y_begin, b.y_begin), std::max(a.x_end, b.x_end),
            std::max(a.y_end, b.y_end)};
}

// Removes the first line from the text and returns it without the character that ends it.
std::u32string_view take_line(std::u32string_view& text) {
    const auto end = std::min(text.find(U'\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// Width of a line in pixels.
int width_of(std::u32string_view line, const GlyphAtlas& atlas) {
    int width = 0;
    for (const auto character : line) width += atlas.glyph(character).advance;
    return width;
}

}  // namespace

// Reserves memory for the longest text, so that arrange() never allocates.
TextLayout::TextLayout(int x, int y, int box_margin_px, const Shape& picture, std::size_t most_characters)
    : x_(x), y_(y), box_margin_px_(box_margin_px), width_(picture.width), height_(picture.height) {
    glyphs_.reserve(most_characters);
}

// Two passes over the lines: the first finds the size of the text, which decides where negative positions lie; the
// second positions the glyphs.
void TextLayout::arrange(std::u32string_view text, const GlyphAtlas& atlas) {
    int text_width = 0;
    for (auto rest = text; !rest.empty();) text_width = std::max(text_width, width_of(take_line(rest), atlas));
    const auto lines = std::count(text.begin(), text.end(), U'\n') + (text.empty() || text.back() == U'\n' ? 0 : 1);
    const int text_height = static_cast<int>(lines) * atlas.line_px();
    // Upper left corner of the text.
    const int left = x_ >= 0 ? x_ : width_ + x_ - text_width;
    const int top = y_ >= 0 ? y_ : height_ + y_ - text_height;

    glyphs_.clear();
    place_ = {};
    int base_line = top + atlas.ascent_px();
    for (auto rest = text; !rest.empty(); base_line += atlas.line_px()) {
        int pen = left;
        for (const auto character : take_line(rest)) {
            const auto& glyph = atlas.glyph(character);
            const int x = pen + glyph.left, y = base_line - glyph.top;
            pen += glyph.advance;
            // The part of the glyph in the picture.
            const auto seen = clipped({x, y, x + glyph.width, y + glyph.height}, width_, height_);
            if (seen.empty()) continue;
            glyphs_.push_back({x, y, glyph.offset, glyph.width, glyph.height});
            place_.covered = joined(place_.covered, seen);
        }
    }
    place_.glyphs = static_cast<int>(glyphs_.size());
    if (box_margin_px_ >= 0 && !text.empty()) {
        place_.box = clipped({left - box_margin_px_, top - box_margin_px_, left + text_width + box_margin_px_,
                              top + text_height + box_margin_px_},
                             width_, height_);
        place_.covered = joined(place_.covered, place_.box);
    }
}

}  // namespace framewire
