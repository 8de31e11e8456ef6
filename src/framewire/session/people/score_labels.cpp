#include "framewire/session/people/score_labels.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/overlay/box_overlay.hpp"
#include "framewire/filters/text/glyphs/font.hpp"
#include "framewire/filters/text/text_pixel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace framewire::session {
namespace {

// Height of the digits in pixels.
constexpr int font_px = 12;

}  // namespace

ScoreLabels::ScoreLabels() {
    try {
        atlas_.emplace(find_font(""), font_px, U"-.0123456789");
    } catch (const Error& error) {
        if (error.code() != ErrorCode::config) throw;
        log_warning("scores are not drawn: {}", error.what());
    }
}

void ScoreLabels::draw(float score, int x, int y, HostView<std::uint8_t> picture) const {
    if (!atlas_) return;
    // the longest float has 39 digits, a sign, a point and two decimals
    std::array<char, 48> text;
    const auto end = fmt::format_to_n(text.data(), text.size(), "{:.2f}", score).out;
    int width = 0;
    for (const auto* character = text.data(); character != end; ++character)
        width += atlas_->glyph(static_cast<char32_t>(*character)).advance;
    const auto& shape = picture.shape();
    const Component box{.id = 1,
                        .x = x,
                        .y = y,
                        .width = std::min(width + 2, shape.width - x),
                        .height = std::min(atlas_->line_px(), shape.height - y),
                        .area = 0,
                        .sum_x = 0,
                        .sum_y = 0};
    const int side = std::max(box.width, box.height);
    // a line as wide as the box fills it
    draw_outlines({&box, 1}, {.line_px = side}, picture);
    int pen = x + 1;
    for (const auto* character = text.data(); character != end; ++character) {
        const auto& glyph = atlas_->glyph(static_cast<char32_t>(*character));
        for (int row = 0; row < glyph.height; ++row)
            for (int column = 0; column < glyph.width; ++column) {
                const int to_x = pen + glyph.left + column, to_y = y + atlas_->ascent_px() - glyph.top + row;
                if (to_x < 0 || to_x >= shape.width || to_y < 0 || to_y >= shape.height) continue;
                const auto covered = atlas_->coverage()[glyph.offset + static_cast<std::size_t>(row) * glyph.width +
                                                        static_cast<std::size_t>(column)];
                auto* pixel = picture.row(0, to_y) + to_x * shape.channels;
                for (int channel = 0; channel < shape.channels; ++channel)
                    pixel[channel] = static_cast<std::uint8_t>(blend(pixel[channel], 255, covered));
            }
        pen += glyph.advance;
    }
}

}  // namespace framewire::session
