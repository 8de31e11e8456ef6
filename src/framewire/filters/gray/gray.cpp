#include "framewire/filters/gray/gray.hpp"

namespace framewire {

Gray::Gray(GrayParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "gray's image");
    validate(output_shape(), "gray's result");
}

namespace {

GrayParameters parameters_from(const ParameterValues& values) {
    return {.method = values.text("method") == "average" ? GrayMethod::average : GrayMethod::weighted,
            .channels = static_cast<int>(values.integer("channels"))};
}

}  // namespace

FilterInfo gray_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "gray",
        .summary = "gray from colour, weighted as the eye sees it or averaged",
        .parameters =
            {
                {.name = "method",
                 .help =
                     "weighted: 0.114 B + 0.587 G + 0.299 R in OpenCV's fixed point; average: floor((B + G + R) / 3)",
                 .type = Type::choice,
                 .default_value = "weighted",
                 .choices = {"weighted", "average"}},
                {.name = "channels",
                 .help = "of the result: 3 keeps it BGR, 1 makes it a gray image",
                 .type = Type::integer,
                 .default_value = "3",
                 .minimum = 1,
                 .maximum = 3,
                 .choices = {"1", "3"}},
            },
        .examples = {"gray", "gray=average:channels=1"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return shape.with_channels(parameters_from(values).channels); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Gray>>(parameters_from(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = parameters_from(values);
            return PointwiseOp{.filter = "gray",
                               .channels = parameters.channels,
                               .values = {static_cast<int>(parameters.method)},
                               .run =
                                   [](const PointwiseOp& op, const PointwiseSpan& span) {
                                       gray_span(static_cast<GrayMethod>(op.values[0]), span.in, span.channels,
                                                 span.pixels, span.out_channels, span.out);
                                   },
                               .gives_gray = true};
        },
    };
}

}  // namespace framewire
