#include "framewire/plan/planes/pixel_move_of.hpp"
#include "framewire/filters/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire {
namespace {

// Returns the position in the image at which an axis of the result starts.
std::optional<int> first_of(double factor, double offset) {
    if (std::abs(factor) != 1 || offset != std::floor(offset)) return std::nullopt;
    return static_cast<int>(factor > 0 ? -offset : offset - 1);
}

}  // namespace

std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from) {
    const auto& info = *call.filter;
    if (!info.placement) return std::nullopt;
    const auto places = info.placement(call.values, from);
    const bool transposed = places.xx == 0 && places.yy == 0;
    if (!transposed && (places.xy != 0 || places.yx != 0)) return std::nullopt;
    // Which axis of the image leads along x of the result, and which along y.
    const double along = transposed ? places.xy : places.xx, down = transposed ? places.yx : places.yy;
    const auto first_along = first_of(along, places.x0), first_down = first_of(down, places.y0);
    if (!first_along || !first_down) return std::nullopt;
    PixelMap map{*first_along, *first_down, along > 0 ? 1 : -1, down > 0 ? 1 : -1, transposed};
    if (transposed) {
        std::swap(map.x, map.y);
        std::swap(map.step_x, map.step_y);
    }
    const auto to = info.output_shape(call.values, from);
    if (transposed && !is_inside(map, from, to)) return std::nullopt;
    const bool has_color = std::ranges::find(info.parameters, "color", &ParameterInfo::name) != info.parameters.end();
    return PixelMove{.map = map, .outside = has_color ? opaque_color_from(call.values, from.channels) : 0, .to = to};
}

}  // namespace framewire
