#pragma once

#include "framewire/filters/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {

/// Computes the formula pixel by pixel, as the reference for tests and benchmarks. Takes the glyphs' positions from the
/// layout.
inline void text_reference(const Text& text, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto blend = [](double under, double color, double alpha) {
        return std::floor((under * (255 - alpha) + color * alpha) / 255 + 0.5);
    };
    const auto& shape = in.shape();
    const auto& box = text.layout().place().box;
    const auto& style = text.style();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int covered = 0;
                for (const auto& glyph : text.layout().glyphs()) {
                    const int column = x - glyph.x, row = y - glyph.y;
                    if (column < 0 || column >= glyph.width || row < 0 || row >= glyph.height) continue;
                    const auto at = glyph.offset + static_cast<std::size_t>(row * glyph.width + column);
                    covered = std::max(covered, int{text.atlas().coverage()[at]});
                }
                const double alpha = std::floor(covered * style.color.alpha / 255.0 + 0.5);
                const bool in_box = x >= box.x_begin && x < box.x_end && y >= box.y_begin && y < box.y_end;
                for (int channel = 0; channel < shape.channels; ++channel) {
                    double value = in.row(frame, y)[x * shape.channels + channel];
                    if (in_box) value = blend(value, channel_of(style.box.pixel, channel), style.box.alpha);
                    out.row(frame, y)[x * shape.channels + channel] =
                        static_cast<std::uint8_t>(blend(value, channel_of(style.color.pixel, channel), alpha));
                }
            }
}

}  // namespace framewire
