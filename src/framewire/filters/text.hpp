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

/// A colour to blend with, and its alpha.
struct Color {
    /// The colour itself.
    Pixel pixel = 0;
    int alpha = 255;  ///< 0 is transparent, 255 opaque
};

/// Parses "#rrggbb" or a name, optionally followed by an alpha such as "@0.5". Throws Error{usage} on any other text;
/// `what` names the parameter in the message.
Color parse_color(std::string_view text, std::string_view what);

/// Returns a text that parse_color() reads as this colour: its name, if it has one.
std::string to_string(const Color& color);

/// Maximum number of characters of a text in the picture, with its tokens filled in.
inline constexpr std::size_t max_text_characters = 2048;

/// Parsed text of the text filter: characters, and tokens that are filled in for each frame. Clock tokens format the
/// local time like strftime; each conversion is a separate part.
class TextTemplate {
public:
    /// Parses UTF-8. `\n` and a line feed end a line; `\\`, `\{` and `\}` are those characters; `{name}` is a token.
    /// `{clock:FORMAT}` is also a token, with strftime's conversions a A b B d e F H I j m M p R S T y Y z %.
    /// Invalid UTF-8 and control characters become U+FFFD, a tab becomes a space. Throws Error{usage} on other escapes,
    /// unknown tokens or conversions, an unclosed brace, and more than max_text_characters.
    explicit TextTemplate(std::string_view text);

    /// Returns true if the text has tokens.
    bool has_tokens() const { return has_tokens_; }
    /// Returns every character that filled-in texts can contain; names of sources may contain those of Latin-1.
    std::u32string characters() const;
    /// Returns the text with its tokens filled in; lines end with '\n'. Does not allocate. Valid until the next call.
    std::u32string_view fill(const FrameValues& values);

private:
    /// Tokens, in the order of `tokens` in text.cpp.
    enum class Token { fps, process_ms, bandwidth, changed, frame, time, source, read_ms, send_ms };
    /// One strftime conversion of a clock.
    struct ClockPart {
        char conversion;
    };
    /// A part of the text: a character, a token, or a conversion.
    using Part = std::variant<char32_t, Token, ClockPart>;
    /// Returns the token with a name, if there is one.
    static std::optional<Token> token_from(std::string_view name);
    /// Appends a character or a filled-in part to the text.
    void append(char32_t character);
    void append(Token token, const FrameValues& values);
    void append(ClockPart part, const std::tm& clock);
    /// Adds the parts of `{clock:FORMAT}`. Returns the maximum number of characters that they produce.
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
/// font file (`.ttf`, `.otf` ...). Depends only on the text, not on which files exist.
bool names_font_file(std::string_view wanted);

/// Finds the font that `wanted` names: a file if names_font_file() returns true, otherwise a family that fontconfig
/// knows ("DejaVu Sans", "monospace", "DejaVu Sans:bold"). If `wanted` is empty, finds fontconfig's default. Throws
/// Error{usage} if there is no such file or family, Error{config} if the machine has no fonts.
FontFile find_font(const std::string& wanted);

/// A drawn character: its coverage in the atlas, and its position relative to the pen on the baseline.
struct Glyph {
    std::uint32_t offset = 0;             ///< start of its coverage in the atlas: width * height bytes, row by row
    std::uint16_t width = 0, height = 0;  ///< size of its coverage, in pixels
    int left = 0, top = 0;  ///< position of its first pixel, to the right of the pen and above the baseline
    int advance = 0;        ///< distance to the next pen position, in pixels
};

/// Characters of one font at one size, rasterised once by FreeType (streaming report, section 3), as coverage of each
/// pixel, 0 to 255.
class GlyphAtlas {
public:
    /// Draws `characters`. Characters that the font lacks share its .notdef box. Throws Error{usage} if the file is not
    /// a font with outlines, or if the glyphs would take more than 64 MiB.
    GlyphAtlas(const FontFile& font, int size_px, std::u32string_view characters);

    /// Returns the glyph of one of `characters`, or the .notdef box for any other character.
    const Glyph& glyph(char32_t character) const;

    /// Returns the distance from the upper edge of a line to its baseline, in pixels.
    int ascent_px() const { return ascent_px_; }
    /// Returns the distance from one line to the next, in pixels.
    int line_px() const { return line_px_; }

    /// Returns the coverage of all glyphs; Glyph::offset is an index into it.
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

/// A glyph placed in the picture: its coverage, and the position of its first pixel, which may lie outside.
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
    Area box;        ///< the box, clipped to the picture; empty if there is none
    int glyphs = 0;  ///< number of glyphs
};

/// Positions the glyphs of a text in a picture. Allocates only in the constructor.
class TextLayout {
public:
    /// Prepares the layout. `x` and `y` are the position of the text's upper left corner; a negative value is the
    /// distance from the picture's right or lower edge to the text's. `box_margin_px` is the margin of a box around the
    /// text; negative for no box. `most_characters` is the capacity.
    TextLayout(int x, int y, int box_margin_px, const Shape& picture, std::size_t most_characters);

    /// Lays out lines that end with '\n'. Omits glyphs without a pixel in the picture.
    void arrange(std::u32string_view text, const GlyphAtlas& atlas);

    /// Returns the extent of the text.
    const TextPlace& place() const { return place_; }
    /// Returns the glyphs, in the order of the text.
    const std::vector<PlacedGlyph>& glyphs() const { return glyphs_; }

private:
    int x_, y_, box_margin_px_;
    int width_, height_;
    TextPlace place_;
    std::vector<PlacedGlyph> glyphs_;
};

/// Parameters of Text.
struct TextParameters {
    std::string text{};  ///< template, in the syntax of TextTemplate
    /// Position of the text's upper left corner. A negative value is the distance from the picture's right or lower
    /// edge to the text's.
    int x = 8, y = 8;
    int size_px = 24;            ///< font size, 4..512
    Color color{0xFFFFFF, 255};  ///< colour of the glyphs
    /// Colour of a box behind the text, extending a quarter of the size beyond it on all sides; none if empty.
    std::optional<Color> box{};
    std::string font{};  ///< font, as find_font() takes it
};

/// Colours that the text and its box are drawn in; gray for one-channel images.
struct TextStyle {
    /// Colours of the glyphs and of the box.
    Color color, box;
};

/// Draws text over the picture (streaming report, section 3): UTF-8, several lines, with tokens filled in for each
/// frame.
///
/// First the box and then the text are blended in each channel: round((v * (255 - a) + color * a) / 255). For the box,
/// a is its alpha; for the text, a is round(c * alpha / 255), with c the coverage of the pixel by glyphs. Where glyphs
/// overlap, the largest coverage counts. Pixels that neither covers are unchanged.
///
/// `in` and `out` are frames x height x width, with any strides and alignment. They must not overlap.
class Text {
public:
    /// Prepares the filter. Throws Error{usage} if the text, size, font or shape is not allowed, Error{config} if the
    /// machine has no fonts. On CUDA, uploads the glyphs.
    Text(const TextParameters& parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }
    /// Returns true if the text has tokens.
    bool shows_frame_values() const { return template_.has_tokens(); }
    /// Fills in the tokens for the following runs, without allocating. On CUDA, queues the upload on the executor's
    /// stream.
    void set_frame_values(const FrameValues& values);

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// Returns true if the filter can run by rows (see Filter::run_rows()): on the CPU, one frame at a time.
    bool works_by_rows() const { return executor_->backend() == Backend::cpu && shape_.frames == 1; }
    /// See Filter::changed_area().
    std::optional<ImageArea> changed_area() const;
    /// See Filter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    /// Returns the positions of the glyphs, for the reference.
    const TextLayout& layout() const { return layout_; }
    /// Returns the glyphs, for the reference.
    const GlyphAtlas& atlas() const { return atlas_; }
    /// Returns the colours, for the reference.
    const TextStyle& style() const { return style_; }

private:
    /// Draws the text over one row of an image.
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

/// Returns the registry entry of `text`.
FilterInfo text_info();

/// Returns round(value / 255); exact for 0..65025.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t divide_by_255(std::uint32_t value) {
    return (value + 128 + ((value + 128) >> 8)) >> 8;
}

/// Blends one channel with a colour whose alpha is `alpha`.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t blend(std::uint32_t under, std::uint32_t color, std::uint32_t alpha) {
    return divide_by_255(under * (255 - alpha) + color * alpha);
}

}  // namespace framewire
