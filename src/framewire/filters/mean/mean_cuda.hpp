#pragma once

#include "framewire/filters/mean/mean.hpp"

struct CUstream_st;

namespace framewire {

/// Queues the filter for sizes up to mean_16_bit_size, whose windows are added up in registers.
void mean_by_addition(const MeanParameters& parameters, const FilterImages<MemorySpace::device>& images,
                      CUstream_st* stream);

}  // namespace framewire
