#pragma once

#include "framewire/filters/mean/mean.hpp"

namespace framewire {

/// The filter for sizes up to mean_16_bit_size, whose windows are added up in registers.
FilterOnDevice mean_by_addition(const MeanParameters& parameters, const Shape& shape, Executor& executor);

}  // namespace framewire
