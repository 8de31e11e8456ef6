#include "framewire/filters/crop/crop.hpp"

#include "framewire/filters/geometry/measure.hpp"

namespace framewire {
namespace {

// Shape of the result. Throws Error{usage} if the rectangle is not inside the image.
Shape cropped(const CropParameters& part, const Shape& shape) {
    validate(shape, "crop's image");
    if (part.width < 1 || part.height < 1 || part.x < 0 || part.y < 0 || part.width > shape.width - part.x ||
        part.height > shape.height - part.y)
        fail(ErrorCode::usage, "crop of {}x{} from {},{} on is not inside the image of {}x{}", part.width, part.height,
             part.x, part.y, shape.width, shape.height);
    return {shape.frames, part.height, part.width, shape.channels};
}

// Evaluates the measures in their order of dependence: w and h first, because x and y may refer to them.
CropParameters crop_parameters(const ParameterValues& values, const Shape& shape) {
    MeasureNames names{shape.width, shape.height};
    CropParameters part;
    part.width = measure(values.text("w"), "w", shape.width, names);
    part.height = measure(values.text("h"), "h", shape.height, names);
    names.out_width = part.width;
    names.out_height = part.height;
    part.x = measure(values.text("x"), "x", shape.width, names);
    part.y = measure(values.text("y"), "y", shape.height, names);
    return part;
}

}  // namespace

PixelMoves crop(const CropParameters& part, const Shape& shape, Executor& executor) {
    const auto to = cropped(part, shape);
    return {PixelMap{.x = part.x, .y = part.y}, 0, shape, to, executor};
}

FilterInfo crop_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "crop",
        .summary = "a part of the picture, without the rest",
        .parameters =
            {
                {.name = "w",
                 .help = "width of the part: pixels (320), of the image (50%), or a sum with iw and ih (iw-16)",
                 .type = Type::text,
                 .default_value = "iw"},
                {.name = "h", .help = "its height, likewise", .type = Type::text, .default_value = "ih"},
                {.name = "x",
                 .help = "where it begins, likewise; ow and oh are the part's own sides",
                 .type = Type::text,
                 .default_value = "(iw-ow)/2"},
                {.name = "y", .help = "likewise", .type = Type::text, .default_value = "(ih-oh)/2"},
            },
        .unnamed = 4,
        .examples = {"crop=50%:50%", "crop=640:480:x=16:y=ih-oh"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return cropped(crop_parameters(values, shape), shape); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(crop(crop_parameters(values, shape), shape, executor));
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto part = crop_parameters(values, shape);
            return {.x0 = -static_cast<double>(part.x), .y0 = -static_cast<double>(part.y)};
        },
    };
}

}  // namespace framewire
