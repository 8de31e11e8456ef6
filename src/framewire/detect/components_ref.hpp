#pragma once

#include "framewire/detect/components.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace framewire {

/// Reference implementation: finds all components of one frame by flood fill from each unlabelled pixel in
/// raster order. `labels` receives the frame's label image.
inline std::vector<Component> components_reference(HostBitMaskView<const std::uint32_t> mask, int frame,
                                                   int connectivity, std::vector<std::int32_t>& labels) {
    const int width = mask.shape().width, height = mask.shape().height;
    const auto at = [&](int x, int y) -> std::int32_t& {
        return labels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    };
    const auto is_set = [&](int x, int y) {
        return x >= 0 && x < width && y >= 0 && y < height && (mask.row(frame, y)[x / 32] >> (x % 32) & 1);
    };
    labels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
    std::vector<Component> components;
    std::vector<std::pair<int, int>> waiting;
    for (int first_y = 0; first_y < height; ++first_y)
        for (int first_x = 0; first_x < width; ++first_x) {
            if (!is_set(first_x, first_y) || at(first_x, first_y)) continue;
            const auto id = static_cast<std::int32_t>(components.size()) + 1;
            int min_x = first_x, max_x = first_x, max_y = first_y;
            Component component{id, 0, 0, 0, 0, 0, 0, 0};
            at(first_x, first_y) = id;
            waiting.assign(1, {first_x, first_y});
            while (!waiting.empty()) {
                const auto [x, y] = waiting.back();
                waiting.pop_back();
                min_x = std::min(min_x, x);
                max_x = std::max(max_x, x);
                max_y = std::max(max_y, y);
                ++component.area;
                component.sum_x += x;
                component.sum_y += y;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) {
                        if ((connectivity == 4 && dx != 0 && dy != 0) || !is_set(x + dx, y + dy) || at(x + dx, y + dy))
                            continue;
                        at(x + dx, y + dy) = id;
                        waiting.emplace_back(x + dx, y + dy);
                    }
            }
            component.x = min_x;
            component.y = first_y;
            component.width = max_x - min_x + 1;
            component.height = max_y - first_y + 1;
            components.push_back(component);
        }
    return components;
}

}  // namespace framewire
