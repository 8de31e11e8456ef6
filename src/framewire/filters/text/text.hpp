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

struct TextParameters {
    std::string text{};  ///< as TextTemplate reads it
    int x = 8, y = 8;    ///< of the text's corner; negative from the right and lower edge to the text's
    int size_px = 24;    ///< of the font, 4..512
    Color color{0xFFFFFF, 255};
    std::optional<Color> box{};  ///< behind the text, a quarter of the size wider on all sides
    std::string font{};          ///< as find_font() reads it
};

/// The colours a text is blended with, those of a one-channel image gray.
struct TextStyle {
    Color color, box;
};

/// Text over the picture (streaming report, section 3): UTF-8, several lines, tokens that each frame fills in. With c
/// how much of a pixel its glyphs cover (the most of any, where they overlap), box and text are blended one after the
/// other, each channel: round((v * (255 - a) + colour * a) / 255), where a is the box's alpha and then
/// round(c * alpha / 255). Only what the text covers changes.
/// In and out: any strides, any alignment, no overlap; frames x height x width.
class Text {
public:
    /// Throws Error{usage} on a text, size, font or shape that is not allowed, Error{config} without any font. On CUDA
    /// it brings the glyphs to the GPU.
    Text(const TextParameters& parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }
    bool shows_frame_values() const { return template_.has_tokens(); }
    /// Fills in the tokens, from the next run on. On CUDA queued on the executor's stream. Allocates nothing.
    void set_frame_values(const FrameValues& values);

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter.
    bool goes_by_rows() const { return executor_->backend() == Backend::cpu && shape_.frames == 1; }
    std::optional<ImageArea> changed_area() const;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

    /// What is drawn, for the reference.
    const TextLayout& layout() const { return layout_; }
    const GlyphAtlas& atlas() const { return atlas_; }
    const TextStyle& style() const { return style_; }

private:
    void draw_row(int y, std::uint8_t* row) const;
    void store_layout() const;

    Shape shape_;
    Executor* executor_;
    TextTemplate template_;
    TextStyle style_;
    GlyphAtlas atlas_;
    TextLayout layout_;
    cuda::DeviceBuffer device_coverage_, device_layout_;  // on the CUDA backend
};

/// The registry's entry.
FilterInfo text_info();

}  // namespace framewire
