#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// Distance between rows of a sub-block's samples in bytes. The channels of a pixel are adjacent; the bytes after the
/// last pixel are unspecified, so that rows can be loaded as whole vectors.
inline constexpr int part_row = 32;
/// Samples of a sub-block in such rows.
using PartSamples = std::array<std::uint8_t, static_cast<std::size_t>(part_side* part_row)>;

/// Result of quantizing the difference between a sub-block and its prediction.
struct QuantizedPart {
    alignas(64) std::array<std::int16_t, static_cast<std::size_t>(part_side* part_row)> steps;  ///< signed magnitudes
    alignas(64) PartSamples samples;               ///< reconstruction, as viewers will see it
    alignas(64) PartSamples slopes;                ///< slope_of() at each sample
    std::array<std::uint32_t, part_side> changed;  ///< per row: one bit per sample that has a step

    /// Returns true if one of the first `rows` rows has a step.
    bool has_steps(int rows) const {
        std::uint32_t any = 0;
        for (int row = 0; row < rows; ++row) any |= changed[static_cast<std::size_t>(row)];
        return any != 0;
    }
};

/// Quantizes `rows` rows of `camera` against a prediction and fills `part`. `mask` is 255 for samples inside the frame,
/// else 0; masked samples have no steps. `foretold` is the first predicted sample, in rows of `part_row`, with a border
/// of one pixel on all sides.
void quantize(const Quantizer& quantizer, const PartSamples& camera, const PartSamples& mask,
              const std::uint8_t* foretold, int channels, int rows, QuantizedPart& part);

}  // namespace framewire::delta
