#pragma once

#include "framewire/detect/box_overlay.hpp"

#include <algorithm>
#include <vector>

namespace framewire {

/// Reference implementation, pixel by pixel. `color` has one value per channel of the image. The first
/// `whole_frames` frames are hidden completely.
inline void box_overlay_reference(const BoxStyle& style, const std::vector<std::uint8_t>& color,
                                  const std::vector<std::vector<Component>>& boxes, HostView<const std::uint8_t> in,
                                  HostView<std::uint8_t> out, int whole_frames = 0) {
    const auto& shape = in.shape();
    const int cell = style.pixelate_px;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    auto& result = out.row(frame, y)[x * shape.channels + channel];
                    result = in.row(frame, y)[x * shape.channels + channel];
                    const int left = cell ? x / cell * cell : 0, right = cell ? std::min(shape.width, left + cell) : 0;
                    const int top = cell ? y / cell * cell : 0, bottom = cell ? std::min(shape.height, top + cell) : 0;
                    auto of_frame = boxes[static_cast<std::size_t>(frame)];
                    if (cell && frame < whole_frames) of_frame = {{1, 0, 0, shape.width, shape.height, 0, 0, 0}};
                    for (const auto& box : of_frame) {
                        if (cell) {
                            if (box.x >= right || box.x + box.width <= left || box.y >= bottom ||
                                box.y + box.height <= top)
                                continue;
                            double sum = 0;
                            for (int cell_y = top; cell_y < bottom; ++cell_y)
                                for (int cell_x = left; cell_x < right; ++cell_x)
                                    sum += in.row(frame, cell_y)[cell_x * shape.channels + channel];
                            result = static_cast<std::uint8_t>(sum / ((right - left) * (bottom - top)) + 0.5);
                        } else {
                            const int to_side = std::min(x - box.x, box.x + box.width - 1 - x);
                            const int to_end = std::min(y - box.y, box.y + box.height - 1 - y);
                            if (to_side >= 0 && to_end >= 0 && std::min(to_side, to_end) < style.line_px)
                                result = color[static_cast<std::size_t>(channel)];
                        }
                    }
                }
}

}  // namespace framewire
