#include "framewire/filters/noise/noise.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/noise/noise_pixel.hpp"

// Registry entry of `noise` and the validation of its parameters.

namespace framewire {
namespace {

constexpr NamedValue<NoiseMode> noise_mode_names[] = {{"mask", NoiseMode::mask}, {"overlay", NoiseMode::overlay}};
constexpr NamedValue<NoiseBase> noise_base_names[] = {{"frame", NoiseBase::frame}, {"previous", NoiseBase::previous}};

const ParameterFields<NoiseParameters>& noise_fields() {
    using P = NoiseParameters;
    static const ParameterFields<P> fields = {
        parameter_field(
            &P::threshold,
            {.name = "threshold", .help = "a pixel shows when any channel differs by more", .maximum = 255}),
        parameter_field(
            &P::mode, noise_mode_names,
            {.name = "mode", .help = "mask: pure red on black; overlay: the red channel set to 255 over the frame"}),
        parameter_field(&P::base, noise_base_names,
                        {.name = "base", .help = "what an overlay lies on: the frame, or the previous one"}),
    };
    return fields;
}

// Runs a fused operation; the inverse of noise_under() for the parameters.
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
    noise_fields().check(parameters, "noise");
}

NoiseFromChanges::NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor)
    : mode_(mode), shape_(shape), executor_(&executor) {
    validate(shape, "noise's image");
}

FilterInfo noise_info() {
    return {
        .name = "noise",
        .summary = "pixels that differ from the previous frame, in red",
        .parameters = noise_fields().infos(),
        .examples = {"noise=mode=overlay", "noise=10"},
        .needs_previous = true,
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                if (values.is_given("base") && values.text("mode") != "overlay")
                    fail(ErrorCode::usage, "base is for mode=overlay; a mask lies on black");
                return shape.with_channels(3);
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Noise>>(noise_fields().from(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = noise_fields().from(values);
            return PointwiseOp{.filter = "noise",
                               .channels = 3,
                               .needs_previous = true,
                               .values = {parameters.threshold, static_cast<int>(noise_under(parameters))},
                               .run = run_span};
        },
    };
}

}  // namespace framewire
