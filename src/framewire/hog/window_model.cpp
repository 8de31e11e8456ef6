#include "framewire/hog/window_model.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {

HogShape window_shape(const WindowModel& model) {
    const auto shape = hog_shape(model.hog, {1, model.height_px, model.width_px, 1});
    const int cell = model.hog.cell;
    if (model.width_px % cell != 0 || model.height_px % cell != 0)
        fail(ErrorCode::usage, "a window of {}x{} pixels is not made of whole cells of {}", model.width_px,
             model.height_px, cell);
    return shape;
}

void validate(const WindowModel& model) {
    const auto shape = window_shape(model);
    if (static_cast<std::int64_t>(model.weights.size()) != shape.count())
        fail(ErrorCode::usage,
             "a model of {} weights does not go with a window of {}x{} pixels, whose descriptor has {} x {} x {} = {} "
             "values",
             model.weights.size(), model.width_px, model.height_px, shape.rows, shape.columns, shape.values,
             shape.count());
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(model.weights, finite) || !finite(model.bias))
        fail(ErrorCode::usage, "a model has a weight that is not a finite number");
}

}  // namespace framewire
