#include "framewire/hog/people/grouping/neighbours.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/people/grouping/suppression.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace framewire {
namespace neighbours_test {

std::vector<Detection> grouped(std::vector<Detection> detections, int neighbours) {
    detections.resize(NeighbourGroups(detections.size())(detections, neighbours));
    return detections;
}

// A fifth of the mean of the smaller width and the smaller height, (10 + 30) / 2: 4 pixels.
TEST(Neighbours, HaveSidesWithinAFifth) {
    const Detection box{100, 100, 10, 30, 0};
    EXPECT_TRUE(are_neighbours(box, box));
    EXPECT_TRUE(are_neighbours(box, {104, 96, 10, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {105, 100, 10, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {100, 95, 10, 30, 0}));
    EXPECT_TRUE(are_neighbours(box, {100, 100, 14, 34, 0})) << "the sides to the right and below, too";
    EXPECT_FALSE(are_neighbours(box, {100, 100, 15, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {100, 100, 10, 35, 0}));
    EXPECT_TRUE(are_neighbours(box, {98, 98, 14, 34, 0}));
}

TEST(Neighbours, GroupIsItsMeanWithItsBestScore) {
    const std::vector<Detection> boxes{{10, 20, 40, 80, 1}, {12, 21, 42, 83, 5}, {13, 22, 41, 82, 2}};
    // 35 / 3, 63 / 3, 123 / 3, 245 / 3.
    EXPECT_EQ(grouped(boxes, 2), (std::vector<Detection>{{12, 21, 41, 82, 5}}));
    EXPECT_TRUE(grouped(boxes, 3).empty()) << "each has two neighbours";
    EXPECT_EQ(grouped({boxes[0]}, 0), (std::vector{boxes[0]}));
    EXPECT_TRUE(grouped({boxes[0]}, 1).empty());
}

// The first and the last box are too far apart; the one between joins them, in any order.
TEST(Neighbours, ChainIsOneGroup) {
    std::vector<Detection> boxes{{0, 0, 10, 10, 1}, {2, 0, 10, 10, 2}, {4, 0, 10, 10, 3}, {50, 0, 10, 10, 4}};
    ASSERT_FALSE(are_neighbours(boxes[0], boxes[2]));
    const std::vector<Detection> want{{50, 0, 10, 10, 4}, {2, 0, 10, 10, 3}};
    std::ranges::sort(boxes, {}, detection_rank);
    do EXPECT_EQ(grouped(boxes, 0), want);
    while (std::ranges::next_permutation(boxes, {}, detection_rank).found);
}

// Halves are rounded to the even number, as in OpenCV.
TEST(Neighbours, MeansRoundHalfToEven) {
    EXPECT_EQ(grouped({{2, 3, 10, 10, 1}, {3, 4, 11, 10, 1}}, 1), (std::vector<Detection>{{2, 4, 10, 10, 1}}));
}

TEST(Neighbours, GroupsWithinLargerOnesAreDropped) {
    const auto times = [](int count, const Detection& box) {
        return std::vector<Detection>(static_cast<std::size_t>(count), box);
    };
    const auto with = [](std::vector<Detection> boxes, const std::vector<Detection>& more) {
        boxes.insert(boxes.end(), more.begin(), more.end());
        return boxes;
    };
    const Detection inner{30, 30, 20, 20, 9}, outer{0, 0, 100, 100, 1}, beside{95, 30, 26, 20, 2};
    EXPECT_EQ(grouped(with(times(3, inner), times(4, outer)), 1), (std::vector{outer}));
    EXPECT_EQ(grouped(with(times(3, inner), times(3, outer)), 1), (std::vector{inner, outer})) << "not more than three";
    EXPECT_EQ(grouped(with(times(5, inner), times(4, outer)), 1), (std::vector{inner, outer})) << "the inner has more";
    EXPECT_EQ(grouped(with(times(2, inner), times(2, outer)), 1), (std::vector{outer})) << "less than three give way";
    EXPECT_EQ(grouped(with(times(3, beside), times(4, outer)), 1), (std::vector{beside, outer}))
        << "reaches further than a fifth beyond its side";
}

TEST(Neighbours, IgnoreTheOrderAndAllocateNothing) {
    std::mt19937 random(1);
    std::vector<Detection> boxes;
    for (int i = 0; i < 300; ++i) {
        const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
        const int place = below(12) * 40, side = 20 + below(12);
        boxes.push_back({place + below(6), below(8), side, 2 * side, static_cast<float>(below(20))});
    }
    const auto first = grouped(boxes, 2);
    EXPECT_GT(first.size(), 3u);
    EXPECT_LT(first.size(), 100u);
    EXPECT_TRUE(std::ranges::is_sorted(first, {}, detection_rank));
    NeighbourGroups groups(boxes.size());
    for (int turn = 0; turn < 5; ++turn) {
        std::ranges::shuffle(boxes, random);
        auto all = boxes;
        const auto before = kit::allocations();
        const auto count = groups(all, 2);
        EXPECT_EQ(kit::allocations(), before);
        all.resize(count);
        EXPECT_EQ(all, first);
    }
}

TEST(Neighbours, EmptyInputGivesNoGroups) {
    EXPECT_TRUE(grouped({}, 0).empty());
    std::vector<Detection> boxes(3);
    EXPECT_THROW(NeighbourGroups(2)(boxes, 0), Error);
}

}  // namespace neighbours_test
}  // namespace framewire
