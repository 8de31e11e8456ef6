#pragma once

#include "framewire/hog/people/detection.hpp"

#include <cstddef>
#include <span>
#include <tuple>

namespace framewire {

/// The better of two detections has the lower one: the higher score, then the upper one, then the one to the left, then
/// the smaller one.
constexpr auto detection_rank(const Detection& d) { return std::tuple(-d.score, d.y, d.x, d.height, d.width); }

/// What two boxes have in common over what they cover together: 0 to 1.
double intersection_over_union(const Detection& a, const Detection& b);

/// Non-maximum suppression, greedy: the best detection stays, those that overlap it by more than `overlap`
/// (intersection over union) go; the best of the rest stays, and so on. Those that stay come first, best first, and
/// their number is the result. The order they come in does not matter. Allocates nothing; takes as many steps as
/// detections times those that stay.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap);

}  // namespace framewire
