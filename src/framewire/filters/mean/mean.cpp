#include "framewire/filters/mean/mean.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/window.hpp"

// Registry entry of `mean`, and the part of Mean that does not depend on the backend.

namespace framewire {
namespace {

const ParameterFields<MeanParameters>& mean_fields() {
    using P = MeanParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size,
                        {.name = "size",
                         .help = "side of the square window in pixels; even ones reach one pixel further left and up",
                         .minimum = 1,
                         .maximum = max_window_px}),
        parameter_field(&P::border, border_names, border_parameter()),
    };
    return fields;
}

}  // namespace

Mean::Mean(MeanParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "mean's image");
    mean_fields().check(parameters, "mean");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo mean_info() {
    return {
        .name = "mean",
        .summary = "the mean of the pixels around each one, which blurs and takes noise away",
        .parameters = mean_fields().infos(),
        .examples = {"mean=7", "mean=3:border=zero"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Mean>>(mean_fields().from(values), shape, executor);
        },
        .window = [](const ParameterValues& values) -> SeparableWindow {
            const auto parameters = mean_fields().from(values);
            return {std::vector<double>(static_cast<std::size_t>(parameters.size), 1.0 / parameters.size),
                    window_reach(parameters.size).before, parameters.border};
        },
    };
}

}  // namespace framewire
