// Loads a sub-block and the surroundings of its position in the previous picture into a MotionWindow. Clamping at the
// edges of the picture happens here once, so that the search itself needs no bound checks.

#include "framewire/delta/prediction/motion/motion_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {

void MotionSearch::load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y,
                        int width, int height, int reach) {
    const auto& shape = before.shape();
    const int channels = window_.channels = shape.channels;
    window_.rows = height;
    constexpr int margin = MotionWindow::margin, side = MotionWindow::side;
    const auto row_bytes = static_cast<std::size_t>(width * channels);
    window_.mask.fill(0);
    for (int row = 0; row < height; ++row) {
        auto* part = &window_.part[static_cast<std::size_t>(row * MotionWindow::part_stride)];
        auto* mask = &window_.mask[static_cast<std::size_t>(row * MotionWindow::part_stride)];
        std::memcpy(part, camera.row(0, y + row) + std::int64_t{x} * channels, row_bytes);
        std::memset(mask, 0xff, row_bytes);
    }
    const int from_x = x - margin, from_y = y - margin;
    // Columns `first` to `last` - 1 of the window lie in the picture. The others, and rows outside, repeat the nearest
    // pixel.
    const int first = std::clamp(-from_x, 0, side), last = std::clamp(shape.width - from_x, 0, side);
    for (int row = margin - reach; row < margin + part_side + reach + 1; ++row) {
        const auto* from = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
        auto* to = &window_.before[static_cast<std::size_t>(row * MotionWindow::stride)];
        for (int column = 0; column < first; ++column)
            std::memcpy(to + column * channels, from, static_cast<std::size_t>(channels));
        std::memcpy(to + first * channels, from + std::int64_t{from_x + first} * channels,
                    static_cast<std::size_t>((last - first) * channels));
        for (int column = last; column < side; ++column)
            std::memcpy(to + column * channels, from + std::int64_t{shape.width - 1} * channels,
                        static_cast<std::size_t>(channels));
    }
}

std::span<const ScoredVector> MotionSearch::find(HostView<const std::uint8_t> camera,
                                                 HostView<const std::uint8_t> before, int x, int y, int width,
                                                 int height, int threshold, int range, int count,
                                                 std::span<const MotionVector> near) {
    // Vectors begin up to `begin` quarters away; refinement adds 3, and interpolation reads one pixel further.
    int begin = range * quarters;
    for (const auto vector : near) begin = std::max({begin, std::abs(vector.x), std::abs(vector.y)});
    load(camera, before, x, y, width, height, std::min((begin + 3) / quarters + 1, MotionWindow::margin));
    best_ = BestVectors(count);
    look_for_motion(window_, threshold, range, near, best_);
    return best_.all();
}

}  // namespace framewire::delta
