#include "framewire/filters/median/median.hpp"

namespace framewire {

Median::Median(MedianParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "median's image");
    if (parameters.size < 1 || parameters.size > max_median_size || parameters.size % 2 == 0)
        fail(ErrorCode::usage, "median: size is {}; an odd number from 1 to {} is allowed", parameters.size,
             max_median_size);
    if (executor.backend() == Backend::cpu)
        plan_for_cpu();
    else if constexpr (cuda::compiled)
        plan_for_cuda();
}

namespace {

MedianParameters median_parameters(const ParameterValues& values) {
    return {.size = static_cast<int>(values.integer("size")), .border = border_from(values)};
}

}  // namespace

FilterInfo median_info() {
    return {
        .name = "median",
        .summary = "the median of the pixels around: removes noise, keeps edges",
        .parameters =
            {
                {.name = "size",
                 .help = "side of the square around each pixel",
                 .type = ParameterInfo::Type::integer,
                 .default_value = "3",
                 .minimum = 1,
                 .maximum = max_median_size,
                 .odd_only = true},
                border_parameter(),
            },
        .examples = {"median=5", "median=3:border=replicate"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Median>>(median_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire
