#include "framewire/filters/adjust/adjust.hpp"

#include "framewire/core/error.hpp"

#include <array>
#include <cmath>
#include <string_view>

namespace framewire {
namespace {

void require(std::string_view name, double value, double minimum, double maximum) {
    if (!(value >= minimum && value <= maximum))  // so that what is no number is refused too
        fail(ErrorCode::usage, "adjust's {} is {}; allowed are {} to {}", name, value, minimum, maximum);
}

std::int16_t rounded(double value) { return static_cast<std::int16_t>(std::lround(value)); }

}  // namespace

AdjustTerms adjust_terms(const Adjustment& adjustment) {
    require("brightness", adjustment.brightness, -255, 255);
    require("contrast", adjustment.contrast, 0, 4);
    require("saturation", adjustment.saturation, 0, 4);
    require("gain", adjustment.gain, 0, 8);
    return {rounded(512 * adjustment.gain * adjustment.contrast),
            rounded(adjustment.brightness + 128 * (1 - adjustment.contrast)), rounded(256 * adjustment.saturation)};
}

Adjust::Adjust(const Adjustment& adjustment, const Shape& shape, Executor& executor)
    : terms_(adjust_terms(adjustment)), shape_(shape), executor_(&executor) {
    validate(shape, "adjust's image");
}

bool Adjust::set_adjustment(const Adjustment& adjustment) {
    terms_ = adjust_terms(adjustment);
    return true;
}

PointwiseOp adjust_op(const AdjustTerms& terms) {
    return {.filter = "adjust",
            .values = {terms.slope, terms.offset, terms.saturation},
            .run =
                [](const PointwiseOp& op, const PointwiseSpan& span) {
                    adjust_span(adjust_terms_of(op), span.in, span.channels, span.pixels, span.out);
                },
            .keeps_gray = true};
}

Adjustment adjustment_from(const ParameterValues& values) {
    return {.brightness = static_cast<int>(values.integer("brightness")),
            .contrast = values.real("contrast"),
            .saturation = values.real("saturation"),
            .gain = values.real("gain")};
}

FilterInfo adjust_info() {
    using Type = ParameterInfo::Type;
    const auto factor = [](std::string_view name, std::string_view help, double maximum) {
        return ParameterInfo{
            .name = name, .help = help, .type = Type::real, .default_value = "1", .minimum = 0, .maximum = maximum};
    };
    return {
        .name = "adjust",
        .summary = "brightness, contrast, saturation and gain, as a camera's panel has them",
        .parameters =
            {
                {.name = "brightness",
                 .help = "added to each channel",
                 .type = Type::integer,
                 .default_value = "0",
                 .minimum = -255,
                 .maximum = 255},
                factor("contrast", "distance from middle gray (128), times this", 4),
                factor("saturation", "distance from the pixel's gray, times this: 0 leaves gray", 4),
                factor("gain", "each channel, times this, before all else", 8),
            },
        .examples = {"adjust=brightness=20:contrast=1.4:saturation=1.5", "adjust=saturation=0"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Adjust>>(adjustment_from(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            return adjust_op(adjust_terms(adjustment_from(values)));
        },
    };
}

}  // namespace framewire
