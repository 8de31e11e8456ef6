#pragma once

#include "framewire/hog/people/detection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// Returns true if two boxes are neighbours in the sense of OpenCV's SimilarRects: each of the four sides is at
/// most a fifth of the mean of the smaller width and the smaller height away from the other's.
bool are_neighbours(const Detection& a, const Detection& b);

/// Merges boxes that are neighbours, directly or through a chain of neighbours, into one box per group:
/// OpenCV's HOGDescriptor::groupRectangles. All memory is allocated in the constructor. For one call at a time.
class NeighbourGroups {
public:
    /// Makes room for `most` boxes.
    explicit NeighbourGroups(std::size_t most);

    /// Replaces each group of more than `neighbours` boxes by their mean, each number rounded to the nearest
    /// (half to even), with the best score of the group. Smaller groups are dropped. A group is also dropped if
    /// its box is within another group's box, extended by a fifth of its sides, provided that the other group
    /// has more than three boxes and more than this one, or that this one has fewer than three. The resulting
    /// boxes come first, best first (see detection_rank()), and their number is returned. The order of the
    /// input does not matter. The time is quadratic in the number of boxes, which must not exceed the room.
    std::size_t operator()(std::span<Detection> detections, int neighbours);

private:
    // Sums over the boxes of a group.
    struct Group {
        std::int64_t x, y, width, height, count;  // sums
        float score;
    };

    std::int32_t leader(std::int32_t member);
    void join(std::span<const Detection> detections);

    std::vector<std::int32_t> leaders_;  // for each box another one of its group, or itself
    std::vector<std::int32_t> groups_;   // for each leader its group
    std::vector<Group> sums_;
    std::vector<Detection> means_;
};

}  // namespace framewire
