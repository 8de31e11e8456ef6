#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/text/color.hpp"
#include "framewire/filters/text/glyphs/glyphs.hpp"
#include "framewire/filters/text/glyphs/layout.hpp"
#include "framewire/filters/text/template.hpp"

#include <optional>
#include <string>

namespace framewire {

/// Parameters of Text.
struct TextParameters {
    std::string text{};  ///< as TextTemplate parses it
    /// Position of the text's upper left corner. A negative value is the distance from the picture's right or lower
    /// edge to the text's.
    int x = 8, y = 8;
    int size_px = 24;            ///< of the font, 4..512
    Color color{0xFFFFFF, 255};  ///< of the glyphs
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
    std::optional<ImageArea> changed_area() const;
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

}  // namespace framewire
