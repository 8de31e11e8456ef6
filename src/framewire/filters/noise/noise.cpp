#include "framewire/filters/noise/noise.hpp"

#include "framewire/core/error.hpp"

namespace framewire {
namespace {

NoiseParameters noise_parameters(const ParameterValues& values) {
    return {.threshold = static_cast<int>(values.integer("threshold")),
            .mode = values.text("mode") == "overlay" ? NoiseMode::overlay : NoiseMode::mask};
}

void run_span(const PointwiseOp& op, const PointwiseSpan& span) {
    noise_span({op.values[0], op.values[1] ? NoiseMode::overlay : NoiseMode::mask}, span.in, span.previous,
               span.channels, span.pixels, span.out);
}

}  // namespace

Noise::Noise(NoiseParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "noise's image");
    if (parameters.threshold < 0 || parameters.threshold > 255)
        fail(ErrorCode::usage, "noise's threshold is {}; allowed are 0 to 255", parameters.threshold);
}

NoiseFromChanges::NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor)
    : mode_(mode), shape_(shape), executor_(&executor) {
    validate(shape, "noise's image");
}

FilterInfo noise_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "noise",
        .summary = "pixels that differ from the previous frame, in red",
        .parameters =
            {
                {.name = "threshold",
                 .help = "a pixel shows when any channel differs by more",
                 .type = Type::integer,
                 .default_value = "20",
                 .minimum = 0,
                 .maximum = 255},
                {.name = "mode",
                 .help = "mask: pure red on black; overlay: the red channel set to 255 over the frame",
                 .type = Type::choice,
                 .default_value = "mask",
                 .choices = {"mask", "overlay"}},
            },
        .examples = {"noise=mode=overlay", "noise=10"},
        .needs_previous = true,
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape.with_channels(3); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Noise>>(noise_parameters(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = noise_parameters(values);
            const bool overlay = parameters.mode == NoiseMode::overlay;
            return PointwiseOp{.filter = "noise",
                               .channels = 3,
                               .needs_previous = true,
                               .values = {parameters.threshold, overlay},
                               .run = run_span};
        },
    };
}

}  // namespace framewire
