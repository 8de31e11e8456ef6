#include "framewire/filters/median/median.hpp"

#include "framewire/core/parameters/fields.hpp"

// Registry entry of `median`, and the constructor, which lets each backend plan for itself.

namespace framewire {
namespace {

const ParameterFields<MedianParameters>& median_fields() {
    using P = MedianParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size, {.name = "size",
                                   .help = "side of the square around each pixel",
                                   .minimum = 1,
                                   .maximum = max_median_size,
                                   .odd_only = true}),
        parameter_field(&P::border, border_names, border_parameter()),
    };
    return fields;
}

}  // namespace

Median::Median(MedianParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "median's image");
    median_fields().check(parameters, "median");
    if (executor.backend() == Backend::cpu)
        plan_for_cpu();
    else if constexpr (cuda::compiled)
        plan_for_cuda();
}

FilterInfo median_info() {
    return {
        .name = "median",
        .summary = "the median of the pixels around: removes noise, keeps edges",
        .parameters = median_fields().infos(),
        .examples = {"median=5", "median=3:border=replicate"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Median>>(median_fields().from(values), shape, executor);
        },
    };
}

}  // namespace framewire
