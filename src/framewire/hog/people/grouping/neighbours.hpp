#pragma once

#include "framewire/hog/people/detection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// Whether two boxes are neighbours, as OpenCV's SimilarRects has it: none of their four sides is further from the
/// other's than a fifth of the mean of the smaller width and the smaller height.
bool are_neighbours(const Detection& a, const Detection& b);

/// Groups of boxes that are neighbours or are joined by a chain of them, each group as one box: OpenCV's
/// HOGDescriptor::groupRectangles. What it needs while it works is allocated when it is made. For one call at a time.
class NeighbourGroups {
public:
    /// Room for so many boxes.
    explicit NeighbourGroups(std::size_t most);

    /// A group of more than `neighbours` boxes becomes their mean, each number rounded to the nearest (half to even),
    /// with the best of their scores; a smaller group goes. So does a group whose box lies within another's, a fifth of
    /// that one's sides around it, when that one has more than three boxes and more than it has, or it has less than
    /// three. The groups come first, best first (as suppress_overlapping() has it), and their number is the result. The
    /// order the boxes come in does not matter. No more boxes than there is room for. Takes as many steps as there are
    /// pairs of boxes.
    std::size_t operator()(std::span<Detection> detections, int neighbours);

private:
    struct Group {
        std::int64_t x, y, width, height, count;  // sums
        float score;
    };

    std::int32_t leader(std::int32_t member);
    void join(std::span<const Detection> detections);

    std::vector<std::int32_t> leaders_;  // of each box another of its group, or itself
    std::vector<std::int32_t> groups_;   // of each leader its group
    std::vector<Group> sums_;
    std::vector<Detection> means_;
};

}  // namespace framewire
