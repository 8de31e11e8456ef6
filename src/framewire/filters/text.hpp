#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace framewire {

/// A color to blend with.
struct Color {
    /// The color.
    Pixel pixel = 0;
    int alpha = 255;  ///< 0 is transparent, 255 opaque
};

/// Parses "#rrggbb" or a name, optionally followed by an alpha such as "@0.5". Throws Error{usage} on any other text;
/// `what` names the parameter in the message.
Color parse_color(std::string_view text, std::string_view what);

/// A text that parse_color() reads as this color; its name if it has one.
std::string to_string(const Color& color);

/// Maximum number of characters of a text in the picture, with its tokens filled in.
inline constexpr std::size_t max_text_characters = 2048;

/// Parsed text of the text filter: characters, and tokens that are filled in for each frame. Clock tokens follow
/// strftime on the local time; each conversion is a part of its own.
class TextTemplate {
public:
    /// Parses UTF-8. `\n` and a line feed end a line; `\\`, `\{` and `\}` are those characters; `{name}` is a token.
    /// `{clock:FORMAT}` is a token as well, with strftime's conversions a A b B d e F H I j m M p R S T y Y z %.
    /// Invalid UTF-8 and control characters become U+FFFD, a tab becomes a space. Throws Error{usage} on other escapes,
    /// unknown tokens or conversions, an unclosed brace, and more than max_text_characters.
    explicit TextTemplate(std::string_view text);

    /// Returns true if the text has tokens.
    bool has_tokens() const { return has_tokens_; }
    /// Every character that filled-in texts can contain; for a source's name, those of Latin-1.
    std::u32string characters() const;
    /// Returns the text with its tokens filled in; lines end with '\n'. Does not allocate. Valid until the next call.
    std::u32string_view fill(const FrameValues& values);

private:
    /// In the order of `tokens` in text.cpp.
    enum class Token { fps, process_ms, bandwidth, changed, frame, time, source, read_ms, send_ms };
    /// One strftime conversion of a clock.
    struct ClockPart {
        char conversion;
    };
    /// A part of the text: a character, a token, or a conversion.
    using Part = std::variant<char32_t, Token, ClockPart>;
    /// The token with a name, if there is one.
    static std::optional<Token> token_from(std::string_view name);
    /// Appends to the filled-in text.
    void append(char32_t character);
    void append(Token token, const FrameValues& values);
    void append(ClockPart part, const std::tm& clock);
    /// Adds the parts of `{clock:FORMAT}`. Returns the most characters that they produce.
    std::size_t add_clock(std::string_view format);

    std::vector<Part> parts_;
    bool has_tokens_ = false, has_clock_ = false;
    std::u32string filled_;
};

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

/// A drawn character: its coverage in the atlas, and its position relative to the pen on the base line.
struct Glyph {
    std::uint32_t offset = 0;             ///< offset of its coverage: width * height bytes, row by row
    std::uint16_t width = 0, height = 0;  ///< size of its coverage, in pixels
    int left = 0, top = 0;  ///< position of its first pixel, to the right of the pen and above the base line
    int advance = 0;        ///< distance to the next pen position, in pixels
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

/// Parameters of Text.
struct TextParameters {
    std::string text{};  ///< as TextTemplate parses it
    /// Position of the text's upper left corner. A negative value is the distance from the picture's right or lower
    /// edge to the text's.
    int x = 8, y = 8;
    int size_px = 24;            ///< font size, 4..512
    Color color{0xFFFFFF, 255};  ///< colour of the glyphs
    std::optional<Color> box{};  ///< behind the text, extending a quarter of the size beyond it on all sides
    std::string font{};          ///< as find_font() interprets it
};

/// Colors that a text is blended with; gray for one-channel images.
struct TextStyle {
    /// Colors of the glyphs and of the box.
    Color color, box;
};

/// Draws text over the picture (streaming report, section 3): UTF-8, several lines, tokens filled in for each frame.
///
/// Let c be the coverage of a pixel by glyphs; where glyphs overlap, the largest counts. Box and text are blended one
/// after the other, in each channel: round((v * (255 - a) + color * a) / 255), with a the box's alpha, and then round(c
/// * alpha / 255) for the text. Pixels that the text does not cover are unchanged.
///
/// `in` and `out`: frames x height x width, any strides and alignment, no overlap.
class Text {
public:
    /// Throws Error{usage} on a text, size, font or shape that is not allowed, Error{config} if the machine has no
    /// fonts. On CUDA, uploads the glyphs.
    Text(const TextParameters& parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }
    /// Returns true if the text has tokens.
    bool shows_frame_values() const { return template_.has_tokens(); }
    /// Fills in the tokens for the following runs. On CUDA, the upload is queued on the executor's stream. Does not
    /// allocate.
    void set_frame_values(const FrameValues& values);

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter.
    bool goes_by_rows() const { return executor_->backend() == Backend::cpu && shape_.frames == 1; }
    /// See RowFilter::changed_area().
    std::optional<ImageArea> changed_area() const;
    /// See RowFilter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    /// Positions of the glyphs, for the reference.
    const TextLayout& layout() const { return layout_; }
    /// The glyphs, for the reference.
    const GlyphAtlas& atlas() const { return atlas_; }
    /// The colors, for the reference.
    const TextStyle& style() const { return style_; }

private:
    /// Draws over one row of an image.
    void draw_row(int y, std::uint8_t* row) const;
    /// Sends the layout to the GPU.
    void store_layout() const;

    Shape shape_;
    Executor* executor_;
    TextTemplate template_;
    TextStyle style_;
    GlyphAtlas atlas_;
    TextLayout layout_;
    cuda::DeviceBuffer device_coverage_, device_layout_;  // CUDA only
};

/// Registry entry of `text`.
FilterInfo text_info();

/// round(value / 255), exact for 0..65025.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t divide_by_255(std::uint32_t value) {
    return (value + 128 + ((value + 128) >> 8)) >> 8;
}

/// Blends one channel with a color of that alpha.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t blend(std::uint32_t under, std::uint32_t color, std::uint32_t alpha) {
    return divide_by_255(under * (255 - alpha) + color * alpha);
}

}  // namespace framewire
