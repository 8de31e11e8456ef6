#include "framewire/hog/people/window_scores/window_scores.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/hog/people/window_scores/window_scores_scratch.hpp"

#include <algorithm>

namespace framewire {
namespace {

// Sorts the weights in the order that WindowTiles describes.
std::vector<float> weights_by_quads(const std::vector<float>& weights, const HogShape& window) {
    const int quads = (window.values + window_quad - 1) / window_quad;
    std::vector<float> sorted(static_cast<std::size_t>(quads * window.columns * window.rows * window_quad));
    for (int row = 0; row < window.rows; ++row)
        for (int column = 0; column < window.columns; ++column)
            for (int value = 0; value < window.values; ++value) {
                const int quad = value / window_quad;
                const int to =
                    ((quad * window.columns + column) * window.rows + row) * window_quad + value % window_quad;
                const int from = (row * window.columns + column) * window.values + value;
                sorted[static_cast<std::size_t>(to)] = weights[static_cast<std::size_t>(from)];
            }
    return sorted;
}

}  // namespace

// Weights are stored in the order in which the backend reads them.
WindowScores::WindowScores(const WindowModel& model, Executor& executor)
    : window_((validate(model), window_shape(model))), bias_(model.bias), executor_(&executor) {
    const auto row_values = window_.row_values();
    if (executor.backend() == Backend::cuda) {
        // Limits the memory so that three blocks share a multiprocessor.
        const auto most_bytes = static_cast<std::size_t>(std::min(64 * 1024, executor.shared_memory().block_bytes));
        tiles_ = WindowTiles(window_.rows, window_.columns, window_.values, most_bytes);
        const auto weights = weights_by_quads(model.weights, window_);
        weights_ = BackendBuffer(weights.size() * sizeof(float), executor);
        weights_.put(weights.data(), weights_.bytes());
        if constexpr (cuda::compiled) allow_memory();
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
