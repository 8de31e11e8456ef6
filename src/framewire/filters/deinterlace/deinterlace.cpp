#include "framewire/filters/deinterlace/deinterlace.hpp"

#include <algorithm>
#include <array>

namespace framewire {
namespace {

// In the order of DeinterlaceMethod.
constexpr std::array<std::string_view, 3> deinterlace_methods{"adaptive", "linear", "blend"};

// Parameters from a chain's values.
DeinterlaceParameters deinterlace_parameters(const ParameterValues& values) {
    const auto method = std::ranges::find(deinterlace_methods, values.text("method")) - deinterlace_methods.begin();
    return {.method = static_cast<DeinterlaceMethod>(method),
            .keeps_bottom = values.text("keep") == "bottom",
            .threshold = static_cast<int>(values.integer("threshold"))};
}

}  // namespace

Deinterlace::Deinterlace(const DeinterlaceParameters& parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "deinterlace's image");
    if (parameters.threshold < 0 || parameters.threshold > 255)
        fail(ErrorCode::usage, "deinterlace's threshold is {}; allowed are 0 to 255", parameters.threshold);
}

// Validates the images and returns the method for this run: a first frame has no predecessor to compare with, so
// `adaptive` becomes `linear`.
template <MemorySpace space>
DeinterlaceMethod Deinterlace::method_for(const FilterImages<space>& images) const {
    validate(images.in, shape_, "deinterlace's image");
    validate(images.previous, shape_, "deinterlace's previous image");
    validate(images.out, shape_, "deinterlace's result");
    const bool first = images.previous.data() == images.in.data();
    return first && parameters_.method == DeinterlaceMethod::adaptive ? DeinterlaceMethod::linear : parameters_.method;
}
template DeinterlaceMethod Deinterlace::method_for(const FilterImages<MemorySpace::host>& images) const;
template DeinterlaceMethod Deinterlace::method_for(const FilterImages<MemorySpace::device>& images) const;

FilterInfo deinterlace_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "deinterlace",
        .summary = "whole pictures of interlaced ones, without combs where something moves",
        .parameters =
            {
                {.name = "method",
                 .help = "adaptive: new lines where something moved since the previous frame; linear: new lines "
                         "everywhere; blend: every line with its neighbours",
                 .type = Type::choice,
                 .default_value = "adaptive",
                 .choices = {deinterlace_methods.begin(), deinterlace_methods.end()}},
                {.name = "keep",
                 .help = "the field whose lines stay as they are: top has lines 0, 2, 4 ...",
                 .type = Type::choice,
                 .default_value = "top",
                 .choices = {"top", "bottom"}},
                {.name = "threshold",
                 .help = "what changes by more has moved",
                 .type = Type::integer,
                 .default_value = "10",
                 .minimum = 0,
                 .maximum = 255},
            },
        .examples = {"deinterlace", "deinterlace=linear:keep=bottom"},
        .needs_previous = true,
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Deinterlace>>(deinterlace_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire
