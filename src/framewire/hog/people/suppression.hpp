#pragma once

#include "framewire/hog/people/detection.hpp"

#include <cstddef>
#include <span>

namespace framewire {

/// What two boxes have in common over what they cover together: 0 to 1.
double intersection_over_union(const Detection& a, const Detection& b);

/// Non-maximum suppression, greedy: the best detection stays, those that overlap it by more than `overlap`
/// (intersection over union) go; the best of the rest stays, and so on. Those that stay come first, best first, and
/// their number is the result. Of equal scores the upper one is better, then the one to the left, then the smaller
/// one: the order they come in does not matter. Allocates nothing; takes as many steps as detections times those that
/// stay.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap);

}  // namespace framewire
