#include "framewire/filters/scale/scale.hpp"

#include "framewire/filters/geometry/measure.hpp"
#include "framewire/filters/scale/scale_planes.hpp"

#include <algorithm>

// Registry entry of `scale`, the evaluation of its sizes, and the choice of methods for the CPU.

namespace framewire {
namespace {

// The method that a chain names.
ScaleMethod method_from(const ParameterValues& values) {
    const auto& text = values.text("method");
    if (text == "area") return ScaleMethod::area;
    if (text == "bilinear") return ScaleMethod::bilinear;
    return text == "bicubic" ? ScaleMethod::bicubic : ScaleMethod::lanczos;
}

// Shape of the result. Throws Error{usage} if the weights do not belong to the image or a side is too large.
Shape scaled(const AxisTaps& down, const AxisTaps& along, const Shape& shape) {
    validate(shape, "scale's image");
    if (down.from != shape.height || along.from != shape.width)
        fail(ErrorCode::usage, "scale's weights of {}x{} for an image of {}", along.from, down.from, to_string(shape));
    const Shape to{shape.frames, down.to, along.to, shape.channels};
    validate(to, "scale's result");
    return to;
}

// The side that keeps the aspect ratio, given the other one: the nearest multiple of -`asked`, but at least one
// multiple.
int in_ratio(int asked, int other_to, int other_from, int from) {
    const auto multiple = std::int64_t{-asked};
    const auto divisor = multiple * other_from;
    const auto multiples = (2 * std::int64_t{other_to} * from + divisor) / (2 * divisor);
    return static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(multiples, 1) * multiple, max_side_px + 1));
}

// As in FFmpeg, 0 keeps a side, and -N chooses the multiple of N that keeps the aspect ratio.
ScaleParameters scale_parameters(const ParameterValues& values, const Shape& shape) {
    validate(shape, "scale's image");
    const MeasureNames names{shape.width, shape.height};
    constexpr int most_multiple = 256;
    const auto side = [&](const char* name, int whole) {
        const int value = measure(values.text(name), name, whole, names);
        if (value < -most_multiple)
            fail(ErrorCode::usage, "{} '{}' is {}; allowed are sizes, 0 and -1 to -{}", name, values.text(name), value,
                 most_multiple);
        return value == 0 ? whole : value;
    };
    int width = side("w", shape.width), height = side("h", shape.height);
    if (width < 0 && height < 0) fail(ErrorCode::usage, "w and h both follow the other; give at least one of them");
    if (width < 0) width = in_ratio(width, height, shape.height, shape.width);
    if (height < 0) height = in_ratio(height, width, shape.width, shape.height);
    return {width, height, method_from(values)};
}

// The blocks for the CPU, if they can be used.
ScaleBlocks blocks_for(const ScaleAxis& columns, const ScaleAxis& rows, const Executor& executor) {
    if (executor.backend() != Backend::cpu || columns.stride > scale_planes_most_taps) return {};
    return scale_blocks(rows);
}

}  // namespace

// Weights of a method for images.
Scale::Scale(ScaleParameters parameters, const Shape& shape, Executor& executor)
    : Scale(scale_taps(parameters.method, {shape.height, parameters.height}),
            scale_taps(parameters.method, {shape.width, parameters.width}), shape, executor) {}

// Rounds the weights once; both backends use the same ones.
Scale::Scale(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor)
    : from_(shape),
      to_(scaled(down, along, shape)),
      executor_(&executor),
      columns_(scale_axis(down, 2)),
      rows_(scale_axis(along, 2)),
      blocks_(blocks_for(columns_, rows_, executor)) {
    // Without blocks, the CPU's vectors process two taps of BGR or eight of gray at a time.
    if (executor.backend() == Backend::cpu && blocks_.empty() && shape.channels == 1) rows_ = scale_axis(along, 8);
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo scale_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "scale",
        .summary = "the picture in another size",
        .parameters =
            {
                {.name = "w",
                 .help = "width: pixels (640), of the image (50%), or a sum with iw and ih (iw/2); -1 keeps the "
                         "picture's ratio, -2 does with an even number, 0 keeps the width",
                 .type = Type::text,
                 .default_value = "-1"},
                {.name = "h", .help = "height, likewise", .type = Type::text, .default_value = "-1"},
                {.name = "method",
                 .help = "area: the mean of what each pixel covers; bilinear; bicubic: sharper, as most expect; "
                         "lanczos: sharpest, with faint rings. All average as many pixels as it takes to shrink "
                         "without aliasing",
                 .type = Type::choice,
                 .default_value = "bicubic",
                 .choices = {"area", "bilinear", "bicubic", "lanczos"}},
            },
        .unnamed = 3,
        .examples = {"scale=50%", "scale=w=640:h=-2", "scale=1280:720:lanczos"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                const auto to = scale_parameters(values, shape);
                return scaled(scale_taps(to.method, {shape.height, to.height}),
                              scale_taps(to.method, {shape.width, to.width}), shape);
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Scale>>(scale_parameters(values, shape), shape, executor);
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto to = scale_parameters(values, shape);
            return {.xx = static_cast<double>(to.width) / shape.width,
                    .yy = static_cast<double>(to.height) / shape.height};
        },
        .scaling = method_from,
    };
}

}  // namespace framewire
