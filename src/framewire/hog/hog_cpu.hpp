#pragma once

#include "framewire/filters/binarize/threshold.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_arithmetic.hpp"

#include <array>
#include <cstdint>

// The steps on the CPU, for Hog and for whoever wants to see them one by one.

namespace framewire {

/// What a frame's gamma comes from. Groups of four values count, and the largest value.
HogLevels hog_levels(const Histogram& histogram);

/// What each gray value becomes: the report's gamma.
std::array<std::uint8_t, 256> hog_gamma_table(const HogLevels& levels);

/// A row that gamma was applied to, with its border pixels repeated at both ends: row[-1] to row[pixels].
void hog_gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row);

/// What a pixel's neighbourhood says, each a row of as many values as there are pixels.
struct HogGradients {
    std::int16_t* gx;
    std::int16_t* gy;
    float* magnitude;
    float* position;  ///< of the direction on the ring: 0 to below `whole`
};

/// Gradients of a row from it and its neighbours, each as hog_gamma_row() makes them, with 64 bytes to read behind the
/// pixels. The results have room for whole vectors: 64 values more.
void hog_gradient_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      std::int64_t pixels, HogGradient gradient, const HogRing& ring, const HogGradients& out);

}  // namespace framewire
