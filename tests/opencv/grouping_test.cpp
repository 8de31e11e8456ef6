#include "framewire/hog/people_detector.hpp"

#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/objdetect.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace framewire {
namespace {

std::vector<Detection> by_opencv(const std::vector<Detection>& boxes, int neighbours) {
    std::vector<cv::Rect> rectangles;
    std::vector<double> weights;
    for (const auto& box : boxes) {
        rectangles.emplace_back(box.x, box.y, box.width, box.height);
        weights.push_back(static_cast<double>(box.score));
    }
    cv::HOGDescriptor().groupRectangles(rectangles, weights, neighbours, 0.2);
    std::vector<Detection> groups;
    for (std::size_t i = 0; i < rectangles.size(); ++i)
        groups.push_back({rectangles[i].x, rectangles[i].y, rectangles[i].width, rectangles[i].height,
                          static_cast<float>(weights[i])});
    std::ranges::sort(groups, {}, detection_rank);
    return groups;
}

// Compares clusters of boxes of all sizes around some positions, which resemble windows above a threshold. OpenCV does
// not group with a threshold of 0.
TEST(GroupingAndOpenCv, GroupsAreEqual) {
    std::mt19937_64 random(kit::seed());
    const auto between = [&](int first, int last) {
        return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
    };
    std::size_t groups = 0, windows = 0;
    for (int turn = 0; turn < 200; ++turn) {
        std::vector<Detection> boxes;
        const int places = between(1, 12), spread = between(1, 40);
        for (int place = 0; place < places; ++place) {
            const int x = between(0, 600), y = between(0, 400), height = between(32, 400);
            for (int box = between(1, 12); box > 0; --box) {
                const int sides = height + between(-spread, spread) / 2;
                boxes.push_back({x + between(-spread, spread), y + between(-spread, spread), std::max(1, sides / 2),
                                 std::max(1, sides), static_cast<float>(between(1, 1000)) / 256});
            }
        }
        for (const int neighbours : {1, 2, 3, 5}) {
            SCOPED_TRACE(fmt::format("turn {}, {} neighbours, seed {}", turn, neighbours, kit::seed()));
            auto got = boxes;
            got.resize(NeighbourGroups(boxes.size())(got, neighbours));
            ASSERT_EQ(got, by_opencv(boxes, neighbours));
            groups += got.size();
            windows += boxes.size();
        }
    }
    EXPECT_GT(groups, 500u);
    EXPECT_LT(groups, windows / 4);
}

}  // namespace
}  // namespace framewire
