#include "framewire/filters/pad/pad.hpp"

#include "framewire/filters/geometry/measure.hpp"
#include "framewire/filters/geometry/opaque_color.hpp"

namespace framewire {
namespace {

// Shape of the result. Throws Error{usage} if the image does not fit.
Shape padded(const PadParameters& pad, const Shape& shape) {
    validate(shape, "pad's image");
    const Shape to{shape.frames, pad.height, pad.width, shape.channels};
    validate(to, "pad's result");
    if (pad.x < 0 || pad.y < 0 || shape.width > to.width - pad.x || shape.height > to.height - pad.y)
        fail(ErrorCode::usage, "the image of {}x{} at {},{} is not inside pad's {}x{}", shape.width, shape.height,
             pad.x, pad.y, pad.width, pad.height);
    return to;
}

// As in FFmpeg, a side of 0 means the image's own, and a negative position means the middle.
PadParameters pad_parameters(const ParameterValues& values, const Shape& shape) {
    MeasureNames names{shape.width, shape.height};
    PadParameters pad{.color = opaque_color_from(values, shape.channels)};
    pad.width = measure(values.text("w"), "w", shape.width, names);
    pad.height = measure(values.text("h"), "h", shape.height, names);
    if (pad.width == 0) pad.width = shape.width;
    if (pad.height == 0) pad.height = shape.height;
    names.out_width = pad.width;
    names.out_height = pad.height;
    pad.x = measure(values.text("x"), "x", pad.width, names);
    pad.y = measure(values.text("y"), "y", pad.height, names);
    if (pad.x < 0) pad.x = (pad.width - shape.width) / 2;
    if (pad.y < 0) pad.y = (pad.height - shape.height) / 2;
    return pad;
}

}  // namespace

// A padded image is a PixelMap with negative offsets; PixelMoves fills what lies outside.
PixelMoves pad(const PadParameters& parameters, const Shape& shape, Executor& executor) {
    const auto to = padded(parameters, shape);
    return {PixelMap{.x = -parameters.x, .y = -parameters.y}, parameters.color, shape, to, executor};
}

FilterInfo pad_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "pad",
        .summary = "the picture with an edge of one colour around it",
        .parameters =
            {
                {.name = "w",
                 .help = "width of the result: pixels (640), of the image (150%), or a sum with iw and ih (iw+16); 0 "
                         "keeps it",
                 .type = Type::text,
                 .default_value = "iw"},
                {.name = "h", .help = "its height, likewise", .type = Type::text, .default_value = "ih"},
                {.name = "x",
                 .help = "where the image begins in it, likewise; ow and oh are the result's sides, -1 is the middle",
                 .type = Type::text,
                 .default_value = "0"},
                {.name = "y", .help = "likewise", .type = Type::text, .default_value = "0"},
                opaque_color_parameter("of the edge: #rrggbb or a name"),
            },
        .unnamed = 5,
        .examples = {"pad=iw+48:ih+32:-1:-1:orange", "pad=1920:1080:x=(ow-iw)/2:y=(oh-ih)/2"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return padded(pad_parameters(values, shape), shape); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(pad(pad_parameters(values, shape), shape, executor));
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto pad = pad_parameters(values, shape);
            return {.x0 = static_cast<double>(pad.x), .y0 = static_cast<double>(pad.y)};
        },
    };
}

}  // namespace framewire
