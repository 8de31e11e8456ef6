#pragma once

#include "framewire/core/view.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Masks to label: images of one channel of 0 and 255.

namespace framewire::kit {

/// The report's random components (moving-object report, figure 13): up to `count` squares of 20x20 pixels at random
/// places in each frame, none touching another. Stops where 1000 tries in a row find no free place; returns how many
/// the last frame got. The same squares for the same seed everywhere.
int fill_squares(HostView<std::uint8_t> mask, int count, std::uint64_t seed);

/// Sets pixels at random, each with probability `density`, in grains of `grain` x `grain` pixels.
void fill_grains(HostView<std::uint8_t> mask, double density, int grain, std::uint64_t seed);

/// `count` discs a frame, of radius 6 to 17 at random places, overlapping or not: what morphology leaves.
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
