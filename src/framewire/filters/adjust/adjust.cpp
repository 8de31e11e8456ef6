#include "framewire/filters/adjust/adjust.hpp"

#include "framewire/core/parameters/fields.hpp"

#include <cmath>

namespace framewire {
namespace {

const ParameterFields<Adjustment>& adjust_fields() {
    using P = Adjustment;
    static const ParameterFields<P> fields = {
        parameter_field(&P::brightness,
                        {.name = "brightness", .help = "added to each channel", .minimum = -255, .maximum = 255}),
        parameter_field(&P::contrast,
                        {.name = "contrast", .help = "distance from middle gray (128), times this", .maximum = 4}),
        parameter_field(
            &P::saturation,
            {.name = "saturation", .help = "distance from the pixel's gray, times this: 0 leaves gray", .maximum = 4}),
        parameter_field(&P::gain, {.name = "gain", .help = "each channel, times this, before all else", .maximum = 8}),
    };
    return fields;
}

std::int16_t rounded(double value) { return static_cast<std::int16_t>(std::lround(value)); }

}  // namespace

AdjustTerms adjust_terms(const Adjustment& adjustment) {
    adjust_fields().check(adjustment, "adjust");
    return {rounded(512 * adjustment.gain * adjustment.contrast),
            rounded(adjustment.brightness + 128 * (1 - adjustment.contrast)), rounded(256 * adjustment.saturation)};
}

Adjust::Adjust(const Adjustment& adjustment, const Shape& shape, Executor& executor)
    : Adjust(shape, adjust_terms(adjustment), executor) {}

Adjust::Adjust(const Shape& shape, const AdjustTerms& terms, Executor& executor)
    : terms_(terms), shape_(shape), executor_(&executor) {
    validate(shape, "adjust's image");
}

bool Adjust::set_adjustment(const Adjustment& adjustment) {
    terms_ = adjust_terms(adjustment);
    return true;
}

// The terms travel in the operation's values in the order that adjust_terms_of() reads them.
PointwiseOp adjust_op(const AdjustTerms& terms) {
    return {.filter = "adjust",
            .values = {terms.slope, terms.offset, terms.saturation},
            .run =
                [](const PointwiseOp& op, const PointwiseSpan& span) {
                    adjust_span(adjust_terms_of(op), span.in, span.channels, span.pixels, span.out);
                },
            .keeps_gray = true};
}

Adjustment adjustment_from(const ParameterValues& values) { return adjust_fields().from(values); }

FilterInfo adjust_info() {
    return {
        .name = "adjust",
        .summary = "brightness, contrast, saturation and gain, as a camera's panel has them",
        .parameters = adjust_fields().infos(),
        .examples = {"adjust=brightness=20:contrast=1.4:saturation=1.5", "adjust=saturation=0"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Adjust>>(adjustment_from(values), shape, executor);
        },
        .levels = [](const ParameterValues& values) { return adjust_terms(adjustment_from(values)); },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            return adjust_op(adjust_terms(adjustment_from(values)));
        },
    };
}

}  // namespace framewire
