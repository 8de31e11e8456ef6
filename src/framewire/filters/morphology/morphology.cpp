#include "framewire/filters/morphology/morphology.hpp"

#include "framewire/core/parameters/fields.hpp"

namespace framewire {
namespace {

// GPU kernels have separate code for each shift, so only small ones are used.
constexpr int largest_cuda_shift_px = 3;

// The steps for a backend.
DilationSteps steps_for(const MorphologyParameters& parameters, Backend backend) {
    const StructuringElement element(parameters.shape, parameters.size);
    return backend == Backend::cuda ? DilationSteps(element, largest_cuda_shift_px) : DilationSteps(element);
}

// The parameters that all four filters share.
const ParameterFields<MorphologyParameters>& morphology_fields() {
    using P = MorphologyParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size, {.name = "size",
                                   .help = "diameter of the structuring element in pixels",
                                   .minimum = 1,
                                   .maximum = max_element_px,
                                   .odd_only = true}),
        parameter_field(
            &P::shape, element_shape_names,
            {.name = "shape", .help = "disc: dx^2 + dy^2 <= (size / 2)^2; ellipse: OpenCV's; rect: the whole square"}),
    };
    return fields;
}

// Registry entry of one operation.
FilterInfo info(std::string_view name, std::string_view example, std::string_view summary,
                MorphologyOperation operation) {
    return {
        .name = name,
        .summary = summary,
        .parameters = morphology_fields().infos(),
        .examples = {example},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [operation](const ParameterValues& values, const Shape& shape,
                            Executor& executor) -> std::unique_ptr<Filter> {
            auto parameters = morphology_fields().from(values);
            parameters.operation = operation;
            return std::make_unique<FilterOf<Morphology>>(parameters, shape, executor);
        },
    };
}

}  // namespace

// Fixes the phases and the steps of the element; allocates the intermediate image if there are several phases.
Morphology::Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor)
    : phases_(phases_of(parameters.operation)),
      steps_(steps_for(parameters, executor.backend())),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "morphology's image");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) phase_on_device_ = plan_for_cuda();
    if (phases_.count > 1) between_ = BackendImage(shape, executor);
}

FilterInfo close_info() {
    return info("close", "close=7", "dilate, then erode: fills gaps smaller than the structuring element",
                MorphologyOperation::close);
}

FilterInfo dilate_info() {
    return info("dilate", "dilate=7:shape=rect", "the largest of the pixels around each one",
                MorphologyOperation::dilate);
}

FilterInfo erode_info() {
    return info("erode", "erode=7", "the smallest of the pixels around each one", MorphologyOperation::erode);
}

FilterInfo open_info() {
    return info("open", "open=7:shape=ellipse",
                "erode, then dilate: takes away what is smaller than the structuring element",
                MorphologyOperation::open);
}

}  // namespace framewire
