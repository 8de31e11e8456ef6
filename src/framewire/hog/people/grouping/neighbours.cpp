#include "framewire/hog/people/grouping/neighbours.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/people/grouping/suppression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace framewire {
namespace {

constexpr double likeness = 0.2;  // OpenCV's `eps`, as a share of the sides

// OpenCV's rules for boxes within others.
bool gives_way(const Detection& box, std::int64_t boxes, const Detection& other, std::int64_t others) {
    const auto dx = std::lrint(other.width * likeness), dy = std::lrint(other.height * likeness);
    return box.x >= other.x - dx && box.y >= other.y - dy && box.x + box.width <= other.x + other.width + dx &&
           box.y + box.height <= other.y + other.height + dy &&
           (others > std::max<std::int64_t>(3, boxes) || boxes < 3);
}

}  // namespace

// OpenCV's SimilarRects with the eps that groupRectangles() uses by default.
bool are_neighbours(const Detection& a, const Detection& b) {
    const double most = likeness * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
    return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most &&
           std::abs(a.x + a.width - b.x - b.width) <= most && std::abs(a.y + a.height - b.y - b.height) <= most;
}

NeighbourGroups::NeighbourGroups(std::size_t most) : leaders_(most), groups_(most), sums_(most), means_(most) {}

// Returns the leader of a box's group.
std::int32_t NeighbourGroups::leader(std::int32_t member) {
    auto& leaders = leaders_;
    const auto of = [&](std::int32_t box) -> std::int32_t& { return leaders[static_cast<std::size_t>(box)]; };
    while (of(member) != member) member = of(member) = of(of(member));  // halves the path for the next search
    return member;
}

// Union-find over all pairs of neighbouring boxes.
void NeighbourGroups::join(std::span<const Detection> detections) {
    const auto count = static_cast<std::int32_t>(detections.size());
    const auto box = [&](std::int32_t number) -> const Detection& {
        return detections[static_cast<std::size_t>(number)];
    };
    for (std::int32_t i = 0; i < count; ++i) {
        leaders_[static_cast<std::size_t>(i)] = i;
        for (std::int32_t j = 0; j < i; ++j)
            if (are_neighbours(box(i), box(j))) leaders_[static_cast<std::size_t>(leader(j))] = i;
    }
}

// Adds up the groups, drops small ones, averages the others, and drops those within others.
std::size_t NeighbourGroups::operator()(std::span<Detection> detections, int neighbours) {
    if (detections.size() > leaders_.size())
        fail(ErrorCode::internal, "{} boxes to group; there is room for {}", detections.size(), leaders_.size());
    join(detections);
    std::size_t groups = 0;
    std::fill_n(groups_.begin(), detections.size(), -1);
    for (std::size_t i = 0; i < detections.size(); ++i) {
        const auto& box = detections[i];
        auto& group = groups_[static_cast<std::size_t>(leader(static_cast<std::int32_t>(i)))];
        if (group < 0) {
            group = static_cast<std::int32_t>(groups);
            sums_[groups++] = {0, 0, 0, 0, 0, box.score};
        }
        auto& sum = sums_[static_cast<std::size_t>(group)];
        sum = {sum.x + box.x,           sum.y + box.y, sum.width + box.width,
               sum.height + box.height, sum.count + 1, std::max(sum.score, box.score)};
    }
    // A group needs more than `neighbours` boxes.
    const auto too_small = [&](const Group& sum) { return sum.count <= neighbours; };
    groups = static_cast<std::size_t>(
        std::remove_if(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(groups), too_small) - sums_.begin());
    for (std::size_t i = 0; i < groups; ++i) {
        const auto& sum = sums_[i];
        const auto mean = [&](std::int64_t of) {
            return static_cast<std::int32_t>(
                std::lrint(static_cast<double>(of) * (1.0 / static_cast<double>(sum.count))));
        };
        means_[i] = {mean(sum.x), mean(sum.y), mean(sum.width), mean(sum.height), sum.score};
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < groups; ++i) {
        bool stays = true;
        for (std::size_t j = 0; j < groups && stays; ++j)
            stays = i == j || !gives_way(means_[i], sums_[i].count, means_[j], sums_[j].count);
        if (stays) detections[kept++] = means_[i];
    }
    std::ranges::sort(detections.first(kept), {}, detection_rank);
    return kept;
}

}  // namespace framewire
