#pragma once

#include "framewire/filters/mean/mean.hpp"

namespace framewire {

/// Makes the GPU filter for sizes up to mean_16_bit_size, which adds up windows in registers.
FilterOnDevice mean_by_addition(const MeanParameters& parameters, const Shape& shape, Executor& executor);

}  // namespace framewire
