#include "framewire/filters/mean/mean.hpp"

#include "framewire/filters/window.hpp"

namespace framewire {

Mean::Mean(MeanParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "mean's image");
    if (parameters.size < 1 || parameters.size > max_window_px)
        fail(ErrorCode::usage, "mean of size {}; allowed are 1 to {}", parameters.size, max_window_px);
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo mean_info() {
    return {
        .name = "mean",
        .summary = "the mean of the pixels around each one, which blurs and takes noise away",
        .parameters =
            {
                {.name = "size",
                 .help = "side of the square window in pixels; even ones reach one pixel further left and up",
                 .type = ParameterInfo::Type::integer,
                 .default_value = "3",
                 .minimum = 1,
                 .maximum = max_window_px},
                border_parameter(),
            },
        .examples = {"mean=7", "mean=3:border=zero"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Mean>>(
                MeanParameters{.size = static_cast<int>(values.integer("size")), .border = border_from(values)}, shape,
                executor);
        },
    };
}

}  // namespace framewire
