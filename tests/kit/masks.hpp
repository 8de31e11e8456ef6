#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Draws masks for labelling: single-channel images of 0 and 255.

namespace framewire::kit {

/// Draws the report's random components (moving-object report, figure 13): up to `count` squares of 20x20 pixels at
/// random positions in each frame, none of which touch. Stops after 1000 consecutive positions that are not free;
/// returns the number of squares in the last frame. The same seed gives the same squares everywhere.
int fill_squares(HostView<std::uint8_t> mask, int count, std::uint64_t seed);

/// Sets pixels at random with probability `density`, in grains of `grain` x `grain` pixels.
void fill_grains(HostView<std::uint8_t> mask, double density, int grain, std::uint64_t seed);

/// Draws `count` discs per frame, of radius 6 to 17 at random positions, which may overlap; such masks are typical
/// results of morphology.
void fill_discs(HostView<std::uint8_t> mask, int count, std::uint64_t seed);

/// Masks that are hard to label.
enum class Pattern {
    empty,
    full,
    checkerboard,
    dots,
    rows,
    columns,
    diagonals,
    comb,
    combs_interleaved,
    rings,
    spiral
};
inline constexpr Pattern all_patterns[] = {
    Pattern::empty,     Pattern::full, Pattern::checkerboard,      Pattern::dots,  Pattern::rows,  Pattern::columns,
    Pattern::diagonals, Pattern::comb, Pattern::combs_interleaved, Pattern::rings, Pattern::spiral};
std::string to_string(Pattern pattern);
void fill(HostView<std::uint8_t> mask, Pattern pattern);

}  // namespace framewire::kit
