#pragma once

#include "framewire/filters/gaussian/gaussian.hpp"

struct CUstream_st;

namespace framewire {

/// Whether gaussian_of_short_weights() takes these weights.
bool short_on_cuda(const GaussianWeights& weights);

/// Queues the filter for weights of 8 bits and few taps.
void gaussian_of_short_weights(const GaussianWeights& weights, Border border,
                               const FilterImages<MemorySpace::device>& images, CUstream_st* stream);

/// Whether gaussian_by_matrices() takes these weights on this GPU.
bool gaussian_fits_matrices(const GaussianWeights& weights);

/// Queues the filter for windows of a few more taps.
void gaussian_by_matrices(const GaussianWeights& weights, Border border,
                          const FilterImages<MemorySpace::device>& images, CUstream_st* stream);

}  // namespace framewire
