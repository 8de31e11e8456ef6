#pragma once

#include "framewire/filters/binarize/threshold.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_arithmetic.hpp"

#include <array>
#include <cstdint>

// The steps of Hog on the CPU, also for callers that want each result.

namespace framewire {

/// Returns the levels that the gamma of a frame is computed from: quantiles in groups of four gray values, and
/// the largest value.
HogLevels hog_levels(const Histogram& histogram);

/// Returns the gamma table of the report: a new value for each gray value.
std::array<std::uint8_t, 256> hog_gamma_table(const HogLevels& levels);

/// Applies the gamma table to a row and replicates its border pixels: writes row[-1] to row[pixels].
void hog_gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row);

/// Gradients of a row, one value per pixel in each array.
struct HogGradients {
    std::int16_t* gx;
    std::int16_t* gy;
    float* magnitude;
    float* position;  ///< direction as a position on the ring: 0 to below `whole`
};

/// Computes the gradients of a row from it and its neighbours, which hog_gamma_row() has written, with 64
/// readable bytes after the pixels. The results must have room for 64 more values, because whole vectors are
/// written.
void hog_gradient_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      std::int64_t pixels, HogGradient gradient, const HogRing& ring, const HogGradients& out);

}  // namespace framewire
