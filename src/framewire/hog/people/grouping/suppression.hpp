#pragma once

#include "framewire/hog/people/detection.hpp"

#include <cstddef>
#include <span>
#include <tuple>

namespace framewire {

/// Rank of a detection; the better of two has the lower rank: the higher score, then the upper one, then the
/// left one, then the smaller one.
constexpr auto detection_rank(const Detection& d) { return std::tuple(-d.score, d.y, d.x, d.height, d.width); }

/// Returns the intersection of two boxes over their union: 0 to 1.
double intersection_over_union(const Detection& a, const Detection& b);

/// Greedy non-maximum suppression: the best detection is kept and those that overlap it by more than `overlap`
/// (intersection over union) are dropped; then the best of the remaining ones is kept, and so on. The kept
/// detections come first, best first, and their number is returned. The order of the input does not matter.
/// Allocates nothing; the time is proportional to detections times kept detections.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap);

}  // namespace framewire
