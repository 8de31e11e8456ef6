#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/quantization/quantized_part.hpp"

#include <cstdint>

namespace framewire::delta {

/// Quantizes a sub-block that is predicted by foretell_inside(). Each pixel depends on the reconstruction of those
/// before it, so this cannot use vectors. (`left`, `top`) is its position in the block; `done` has the reconstruction
/// of the sub-blocks before it; `camera` has its samples.
void quantize_inside(const Quantizer& quantizer, const PartSamples& camera, HostView<const std::uint8_t> done,
                     const BlockPlace& block, int left, int top, QuantizedPart& part);

}  // namespace framewire::delta
