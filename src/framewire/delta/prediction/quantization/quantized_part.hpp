#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// Samples of a part lie in rows of so many, the channels of a pixel one after the other, and what is behind the last
/// pixel means nothing. So rows are loaded in whole vectors.
inline constexpr int part_row = 32;
using PartSamples = std::array<std::uint8_t, static_cast<std::size_t>(part_side* part_row)>;

/// What a part is foretold by, made right.
struct QuantizedPart {
    alignas(64) std::array<std::int16_t, static_cast<std::size_t>(part_side* part_row)> steps;
    alignas(64) PartSamples samples;               ///< as a viewer will have them
    alignas(64) PartSamples slopes;                ///< slope_of() at each sample
    std::array<std::uint32_t, part_side> changed;  ///< of each row, a bit per sample that has steps

    bool has_steps(int rows) const {
        std::uint32_t any = 0;
        for (int row = 0; row < rows; ++row) any |= changed[static_cast<std::size_t>(row)];
        return any != 0;
    }
};

/// Fills `part` for `rows` rows of `camera`. `mask` is 255 for samples of the part, else 0: there are no steps there.
/// `foretold`: the part's first sample, in rows of `part_row`, with a pixel around the part on all sides.
void quantize(const Quantizer& quantizer, const PartSamples& camera, const PartSamples& mask,
              const std::uint8_t* foretold, int channels, int rows, QuantizedPart& part);

}  // namespace framewire::delta
