#include "framewire/session/input/pixel_move_of.hpp"

#include "framewire/filters/geometry/opaque_color.hpp"

#include <algorithm>
#include <cmath>

namespace framewire::session {
namespace {

// Where along the image an axis of the result begins.
std::optional<int> first_of(double factor, double offset) {
    if (std::abs(factor) != 1 || offset != std::floor(offset)) return std::nullopt;
    return static_cast<int>(factor > 0 ? -offset : offset - 1);
}

}  // namespace

std::optional<PixelMove> pixel_move_of(const FilterCall& call, const Shape& from) {
    const auto& info = *call.filter;
    if (!info.placement) return std::nullopt;
    const auto places = info.placement(call.values, from);
    if (places.xy != 0 || places.yx != 0) return std::nullopt;
    const auto x = first_of(places.xx, places.x0), y = first_of(places.yy, places.y0);
    if (!x || !y) return std::nullopt;
    const bool has_color = std::ranges::find(info.parameters, "color", &ParameterInfo::name) != info.parameters.end();
    return PixelMove{.map = {*x, *y, places.xx > 0 ? 1 : -1, places.yy > 0 ? 1 : -1},
                     .outside = has_color ? opaque_color_from(call.values, from.channels) : 0,
                     .to = info.output_shape(call.values, from)};
}

}  // namespace framewire::session
