#include "framewire/filters/noise/noise.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/noise/noise_pixel.hpp"

namespace framewire {
namespace {

NoiseParameters noise_parameters(const ParameterValues& values) {
    return {.threshold = static_cast<int>(values.integer("threshold")),
            .mode = values.text("mode") == "overlay" ? NoiseMode::overlay : NoiseMode::mask,
            .base = values.text("base") == "previous" ? NoiseBase::previous : NoiseBase::frame};
}

void run_span(const PointwiseOp& op, const PointwiseSpan& span) {
    const auto under = static_cast<NoiseUnder>(op.values[1]);
    noise_span({.threshold = op.values[0],
                .mode = under == NoiseUnder::nothing ? NoiseMode::mask : NoiseMode::overlay,
                .base = under == NoiseUnder::previous ? NoiseBase::previous : NoiseBase::frame},
               span.in, span.previous, span.channels, span.pixels, span.out);
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
                {.name = "base",
                 .help = "what an overlay lies on: the frame, or the previous one",
                 .type = Type::choice,
                 .default_value = "frame",
                 .choices = {"frame", "previous"}},
            },
        .examples = {"noise=mode=overlay", "noise=10"},
        .needs_previous = true,
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                if (values.is_given("base") && values.text("mode") != "overlay")
                    fail(ErrorCode::usage, "base is for mode=overlay; a mask lies on black");
                return shape.with_channels(3);
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Noise>>(noise_parameters(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = noise_parameters(values);
            return PointwiseOp{.filter = "noise",
                               .channels = 3,
                               .needs_previous = true,
                               .values = {parameters.threshold, static_cast<int>(noise_under(parameters))},
                               .run = run_span};
        },
    };
}

}  // namespace framewire
