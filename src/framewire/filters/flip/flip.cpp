#include "framewire/filters/flip/flip.hpp"

namespace framewire {
namespace {

FlipParameters flip_parameters(const ParameterValues& values) {
    const auto& direction = values.text("direction");
    return {.left_right = direction != "vertical", .top_bottom = direction != "horizontal"};
}

}  // namespace

// A mirrored image is a PixelMap with negative steps; nothing else is specific to flip.
PixelMoves flip(const FlipParameters& parameters, const Shape& shape, Executor& executor) {
    validate(shape, "flip's image");
    return {mirrored(shape, parameters.left_right, parameters.top_bottom), 0, shape, shape, executor};
}

FilterInfo flip_info() {
    return {
        .name = "flip",
        .summary = "the picture mirrored",
        .parameters =
            {
                {.name = "direction",
                 .help = "horizontal: left and right change places; vertical: top and bottom; both: a half turn",
                 .type = ParameterInfo::Type::choice,
                 .default_value = "horizontal",
                 .choices = {"horizontal", "vertical", "both"}},
            },
        .examples = {"flip", "flip=vertical"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(flip(flip_parameters(values), shape, executor));
        },
        .placement =
            [](const ParameterValues& values, const Shape& shape) {
                const auto flip = flip_parameters(values);
                PlaneMap map;
                if (flip.left_right) map.xx = -1, map.x0 = shape.width;
                if (flip.top_bottom) map.yy = -1, map.y0 = shape.height;
                return map;
            },
    };
}

}  // namespace framewire
