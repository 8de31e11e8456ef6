#include "framewire/pipeline/frames/moved_objects.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {
namespace {

// Extent of a box along one axis. `along` and `across` are the movement on this axis per pixel of the box's
// width and height.
struct Extent {
    int begin, end;

    Extent(double start, double along, int width, double across, int height, int most) {
        const double a = along * width, b = across * height;
        const auto nearest = [most](double at) {
            return static_cast<int>(std::clamp(std::floor(at + 0.5), 0.0, static_cast<double>(most)));
        };
        begin = nearest(start + std::min(a, 0.0) + std::min(b, 0.0));
        end = nearest(start + std::max(a, 0.0) + std::max(b, 0.0));
    }
};

}  // namespace

// A map of positions moves a box to a parallelogram; the result is the box around it.
void move_objects(std::span<const Component> objects, const PlaneMap& map, const Shape& shape,
                  std::vector<Component>& moved) {
    moved.clear();
    const double growth = std::abs(map.xx * map.yy - map.xy * map.yx);
    for (const auto& object : objects) {
        const Extent across(map.xx * object.x + map.xy * object.y + map.x0, map.xx, object.width, map.xy, object.height,
                            shape.width);
        const Extent down(map.yx * object.x + map.yy * object.y + map.y0, map.yx, object.width, map.yy, object.height,
                          shape.height);
        if (across.begin >= across.end || down.begin >= down.end) continue;
        auto to = object;
        to.x = across.begin;
        to.y = down.begin;
        to.width = across.end - across.begin;
        to.height = down.end - down.begin;
        const double most = static_cast<double>(to.width) * to.height;
        to.area = static_cast<std::int32_t>(std::clamp(std::floor(object.area * growth + 0.5), 1.0, most));
        // Sums are of pixel numbers, which are half a pixel before the pixels' centres.
        const double x = static_cast<double>(object.sum_x) / object.area + 0.5;
        const double y = static_cast<double>(object.sum_y) / object.area + 0.5;
        to.sum_x = std::llround((map.xx * x + map.xy * y + map.x0 - 0.5) * to.area);
        to.sum_y = std::llround((map.yx * x + map.yy * y + map.y0 - 0.5) * to.area);
        moved.push_back(to);
    }
}

}  // namespace framewire
