#include "framewire/hog/people/grouping/suppression.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

// Products are 64 bits wide, since boxes can be as large as a frame.
double intersection_over_union(const Detection& a, const Detection& b) {
    const auto common = [](std::int64_t first, std::int64_t first_size, std::int64_t second, std::int64_t second_size) {
        return std::max<std::int64_t>(std::min(first + first_size, second + second_size) - std::max(first, second), 0);
    };
    const auto area = [](const Detection& box) { return std::int64_t{box.width} * box.height; };
    const auto both = common(a.x, a.width, b.x, b.width) * common(a.y, a.height, b.y, b.height);
    return static_cast<double>(both) / static_cast<double>(area(a) + area(b) - both);
}

// Kept detections move to the front in place.
std::size_t suppress_overlapping(std::span<Detection> detections, double overlap) {
    std::ranges::sort(detections, {}, detection_rank);
    auto kept = detections.begin();
    for (const auto& detection : detections)
        if (std::none_of(detections.begin(), kept,
                         [&](const Detection& better) { return intersection_over_union(better, detection) > overlap; }))
            *kept++ = detection;
    return static_cast<std::size_t>(kept - detections.begin());
}

}  // namespace framewire
