#include "framewire/hog/people/grouping/suppression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace framewire {
namespace suppression_test {

std::vector<Detection> suppressed(std::vector<Detection> detections, double overlap) {
    detections.resize(suppress_overlapping(detections, overlap));
    return detections;
}

TEST(Suppression, ComputesIntersectionOverUnion) {
    const Detection box{10, 20, 30, 40, 0};
    EXPECT_EQ(intersection_over_union(box, box), 1);
    EXPECT_EQ(intersection_over_union(box, {40, 20, 30, 40, 0}), 0) << "side by side";
    EXPECT_EQ(intersection_over_union(box, {10, 60, 30, 40, 0}), 0) << "one above the other";
    EXPECT_EQ(intersection_over_union(box, {100, 200, 30, 40, 0}), 0);
    EXPECT_EQ(intersection_over_union(box, {25, 20, 30, 40, 0}), 600 / 1800.0);
    EXPECT_EQ(intersection_over_union(box, {15, 30, 10, 10, 0}), 100 / 1200.0) << "one within the other";
}

// By hand: b overlaps a and c by a third each; c does not overlap a. a suppresses b, and c is kept because b is
// gone.
TEST(Suppression, DroppedDetectionsSuppressNothing) {
    const Detection a{0, 0, 10, 10, 3}, b{5, 0, 10, 10, 2}, c{10, 0, 10, 10, 1};
    EXPECT_EQ(suppressed({c, b, a}, 0.3), (std::vector{a, c}));
    EXPECT_EQ(suppressed({a, b, c}, 0.4), (std::vector{a, b, c}));
}

TEST(Suppression, KeepsOverlapsEqualToTheLimit) {
    const Detection a{0, 0, 10, 10, 3}, b{5, 0, 10, 10, 2};
    EXPECT_EQ(suppressed({a, b}, 50 / 150.0), (std::vector{a, b}));
    const Detection twin{0, 0, 10, 10, 2};
    EXPECT_EQ(suppressed({a, twin}, 1), (std::vector{a, twin})) << "nothing overlaps by more than 1";
    EXPECT_EQ(suppressed({a, {10, 0, 10, 10, 2}}, 0).size(), 2u) << "what only touches does not overlap";
    EXPECT_EQ(suppressed({a, {9, 9, 10, 10, 2}}, 0), (std::vector{a}));
}

TEST(Suppression, BreaksTiesByPositionAndSize) {
    const Detection upper{5, 0, 10, 10, 1}, left{0, 1, 10, 10, 1}, right{2, 1, 10, 10, 1}, large{0, 1, 10, 12, 1};
    EXPECT_EQ(suppressed({right, left, large, upper}, 0), (std::vector{upper}));
    EXPECT_EQ(suppressed({right, left, large, upper}, 1), (std::vector{upper, left, large, right}));
}

// Compares with the definition for any order of the input.
TEST(Suppression, IgnoresTheOrderOfTheInput) {
    std::mt19937 random(1);
    std::vector<Detection> detections;
    for (int i = 0; i < 200; ++i) {
        const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
        detections.push_back({below(90), below(90), 5 + below(30), 5 + below(30), static_cast<float>(below(20))});
    }
    const auto first = suppressed(detections, 0.25);
    EXPECT_GT(first.size(), 10u);
    EXPECT_LT(first.size(), 150u);
    EXPECT_TRUE(std::ranges::is_sorted(first, std::greater(), &Detection::score));
    for (const auto& detection : detections) {
        const bool stayed = std::ranges::find(first, detection) != first.end();
        const bool overlapped = std::ranges::any_of(first, [&](const Detection& other) {
            return other != detection && other.score >= detection.score &&
                   intersection_over_union(other, detection) > 0.25;
        });
        EXPECT_NE(stayed, overlapped);
    }
    std::ranges::shuffle(detections, random);
    EXPECT_EQ(suppressed(detections, 0.25), first);
}

TEST(Suppression, EmptyInputGivesNoDetections) { EXPECT_TRUE(suppressed({}, 0.3).empty()); }

}  // namespace suppression_test
}  // namespace framewire
