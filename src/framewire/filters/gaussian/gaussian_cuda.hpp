#pragma once

#include "framewire/filters/gaussian/gaussian.hpp"

namespace framewire {

/// Whether gaussian_of_short_weights() takes these weights.
bool short_on_cuda(const GaussianWeights& weights);

/// The filter for weights of 8 bits and few taps.
FilterOnDevice gaussian_of_short_weights(const GaussianWeights& weights, Border border, const Shape& shape,
                                         Executor& executor);

/// Whether gaussian_by_matrices() takes these weights on this GPU.
bool gaussian_fits_matrices(const GaussianWeights& weights);

/// The filter for windows of up to 65 taps.
FilterOnDevice gaussian_by_matrices(const GaussianWeights& weights, Border border, const Shape& shape,
                                    Executor& executor);

}  // namespace framewire
