#pragma once

#include "framewire/hog/hog.hpp"
#include "framewire/hog/window_model.hpp"

#include <cstddef>
#include <vector>

namespace framewire {

/// Reference implementation: the scores of all windows in double precision, window by window, for tests.
inline std::vector<double> window_scores_reference(const WindowModel& model,
                                                   HogView<const float, MemorySpace::host> descriptors) {
    const auto window = window_shape(model);
    std::vector<double> scores;
    for (int y = 0; y + window.rows <= descriptors.shape().rows; ++y)
        for (int x = 0; x + window.columns <= descriptors.shape().columns; ++x) {
            double score = model.bias;
            std::size_t weight = 0;
            for (int row = 0; row < window.rows; ++row)
                for (int i = 0; i < window.columns * window.values; ++i)
                    score += static_cast<double>(model.weights[weight++]) *
                             static_cast<double>(descriptors.row(0, y + row)[x * window.values + i]);
            scores.push_back(score);
        }
    return scores;
}

}  // namespace framewire
