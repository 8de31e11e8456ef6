#include "framewire/filters/text/glyphs/glyphs.hpp"

#include "framewire/core/error.hpp"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <type_traits>

// Rasterising glyphs with FreeType. Fonts come from users, so sizes that a file states are checked or clamped before
// they are used.

namespace framewire {
namespace {

// Limit on the coverage of all glyphs of one text.
constexpr std::size_t max_coverage_bytes = 64 << 20;

using Library = std::unique_ptr<std::remove_pointer_t<FT_Library>, decltype(&FT_Done_FreeType)>;
using Face = std::unique_ptr<std::remove_pointer_t<FT_Face>, decltype(&FT_Done_Face)>;

// A FreeType library for one atlas alone.
Library open_library() {
    FT_Library library = nullptr;
    if (FT_Init_FreeType(&library) != 0) fail(ErrorCode::internal, "FreeType does not start");
    return {library, &FT_Done_FreeType};
}

// Opens a font file at a size. Throws Error{usage} unless it is a font with outlines.
Face open_face(const Library& library, const FontFile& font, int size_px) {
    FT_Face face = nullptr;
    if (FT_New_Face(library.get(), font.path.c_str(), font.face, &face) != 0)
        fail(ErrorCode::usage, "'{}' is no font FreeType can read", font.path);
    Face opened(face, &FT_Done_Face);
    if (!FT_IS_SCALABLE(face) || FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size_px)) != 0)
        fail(ErrorCode::usage, "the font '{}' has no outlines", font.path);
    return opened;
}

// Fonts store lengths in 64ths of a pixel.
int rounded_px(FT_Pos length) { return static_cast<int>((length + 32) >> 6); }

// Draws one glyph and appends its coverage.
Glyph draw(const Face& face, FT_UInt index, const FontFile& font, std::vector<std::uint8_t>& coverage) {
    if (FT_Load_Glyph(face.get(), index, FT_LOAD_RENDER | FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_NORMAL) != 0)
        fail(ErrorCode::usage, "the font '{}' is broken: its glyph {} cannot be drawn", font.path, index);
    const auto& slot = *face->glyph;
    const auto& bitmap = slot.bitmap;
    const auto bytes = std::size_t{bitmap.width} * bitmap.rows;
    if (bytes > 0 && bitmap.pixel_mode != FT_PIXEL_MODE_GRAY)
        fail(ErrorCode::usage, "the font '{}' has glyphs that are no plain outlines", font.path);
    if (bitmap.width > 0xFFFF || bitmap.rows > 0xFFFF || bytes > max_coverage_bytes - coverage.size())
        fail(ErrorCode::usage, "the text's glyphs would take more than {} MiB at this size", max_coverage_bytes >> 20);
    const Glyph glyph{static_cast<std::uint32_t>(coverage.size()),
                      static_cast<std::uint16_t>(bitmap.width),
                      static_cast<std::uint16_t>(bitmap.rows),
                      slot.bitmap_left,
                      slot.bitmap_top,
                      rounded_px(slot.advance.x)};
    for (unsigned row = 0; row < bitmap.rows; ++row) {
        const auto* from = bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch;
        coverage.insert(coverage.end(), from, from + bitmap.width);
    }
    return glyph;
}

}  // namespace

// The box for missing characters comes first; characters without a glyph share it.
GlyphAtlas::GlyphAtlas(const FontFile& font, int size_px, std::u32string_view characters) {
    const auto library = open_library();
    const auto face = open_face(library, font, size_px);
    const auto& metrics = face->size->metrics;
    // Clamped to sensible line heights, whatever the file says.
    ascent_px_ = std::clamp(rounded_px(metrics.ascender), 1, 4 * size_px);
    line_px_ = std::clamp(rounded_px(metrics.height), 1, 4 * size_px);
    missing_ = draw(face, 0, font, coverage_);
    for (const auto character : std::set<char32_t>(characters.begin(), characters.end())) {
        const auto index = FT_Get_Char_Index(face.get(), character);
        glyphs_.emplace_back(character, index == 0 ? missing_ : draw(face, index, font, coverage_));
    }
}

// Binary search; the characters were added in ascending order.
const Glyph& GlyphAtlas::glyph(char32_t character) const {
    const auto found = std::lower_bound(glyphs_.begin(), glyphs_.end(), character,
                                        [](const auto& entry, char32_t wanted) { return entry.first < wanted; });
    return found != glyphs_.end() && found->first == character ? found->second : missing_;
}

}  // namespace framewire
