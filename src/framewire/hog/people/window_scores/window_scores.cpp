#include "framewire/hog/people/window_scores/window_scores.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/people/window_scores/window_scores_scratch.hpp"

#include <algorithm>

namespace framewire {

WindowScores::WindowScores(const WindowModel& model, Executor& executor)
    : window_((validate(model), window_shape(model))), bias_(model.bias), executor_(&executor) {
    const auto row_values = window_.row_values();
    if (executor.backend() == Backend::cuda) {
        stride_ = row_values;
        weights_ = BackendBuffer(window_.bytes(), executor);
        weights_.put(model.weights.data(), window_.bytes());
        return;
    }
    stride_ = (row_values + window_weights_group - 1) / window_weights_group * window_weights_group;
    const auto count = stride_ * (window_.rows + 2 * window_weights_rows_around);
    weights_ = BackendBuffer(static_cast<std::size_t>(count) * sizeof(float), executor);
    weights_.fill(0);
    for (int row = 0; row < window_.rows; ++row)
        std::copy_n(model.weights.data() + row * row_values, row_values,
                    weights_.as<float>() + (row + window_weights_rows_around) * stride_);
}

WindowGrid WindowScores::grid(const HogShape& descriptors) const {
    if (descriptors.frames != 1 || descriptors.values != window_.values)
        fail(ErrorCode::usage, "windows of {} values a place in descriptors of {} frames and {} values", window_.values,
             descriptors.frames, descriptors.values);
    if (descriptors.rows < window_.rows || descriptors.columns < window_.columns) return {};
    return {descriptors.rows - window_.rows + 1, descriptors.columns - window_.columns + 1};
}

}  // namespace framewire
