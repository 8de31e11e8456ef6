#pragma once

#include "framewire/filters/gaussian/gaussian.hpp"

namespace framewire {

/// Returns true if gaussian_of_short_weights() supports these weights.
bool short_on_cuda(const GaussianWeights& weights);

/// Makes the GPU filter for 8-bit weights and few taps.
FilterOnDevice gaussian_of_short_weights(const GaussianWeights& weights, Border border, const Shape& shape,
                                         Executor& executor);

/// Returns true if gaussian_by_matrices() supports these weights on the current GPU.
bool gaussian_fits_matrices(const GaussianWeights& weights);

/// Makes the GPU filter that uses tensor cores, for windows of up to 65 taps.
FilterOnDevice gaussian_by_matrices(const GaussianWeights& weights, Border border, const Shape& shape,
                                    Executor& executor);

}  // namespace framewire
