#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/quantization/quantized_part.hpp"

#include <cstdint>

namespace framewire::delta {

/// Fills `part` as foretell_inside() foretells it: each pixel by those before it, of this part as they become.
/// (`left`, `top`) is the part's place in the block, of which `done` has what comes before it; `camera` is the part's.
void quantize_inside(const Quantizer& quantizer, const PartSamples& camera, HostView<const std::uint8_t> done,
                     const BlockPlace& block, int left, int top, QuantizedPart& part);

}  // namespace framewire::delta
