#include "framewire/hog/stages.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace {

// Returns the pictures of an image that is half black, half 200: the two columns beside the edge have gradients of 4 x
// 200, at 0 degrees.
std::vector<HogPicture> pictures_of_an_edge(bool signed_gradients) {
    kit::GuardedImage image({1, 4, 6, 1}, {});
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x) image.view().row(0, y)[x] = x < 3 ? 0 : 200;
    return hog_step_pictures(hog_steps(image.view(), {.signed_gradients = signed_gradients}), signed_gradients);
}

std::vector<int> first_row(const HogPicture& picture) {
    const auto view = picture.image.view();
    return {view.row(0, 0), view.row(0, 0) + view.shape().row_bytes()};
}

TEST(HogPictures, ShowEachStepForAnEdge) {
    for (const bool signed_gradients : {false, true}) {
        const auto pictures = pictures_of_an_edge(signed_gradients);
        std::vector<std::string> names;
        for (const auto& picture : pictures) names.push_back(picture.name);
        ASSERT_EQ(names, (std::vector<std::string>{"gray", "gamma", "gx", "gy", "magnitude", "direction"}));
        EXPECT_EQ(first_row(pictures[0]), (std::vector<int>{0, 0, 0, 200, 200, 200}));
        EXPECT_EQ(first_row(pictures[1]), (std::vector<int>{0, 0, 0, 200, 200, 200}));
        EXPECT_EQ(first_row(pictures[2]), (std::vector<int>{128, 128, 228, 228, 128, 128}));
        EXPECT_EQ(first_row(pictures[3]), (std::vector<int>{128, 128, 128, 128, 128, 128}));
        EXPECT_EQ(first_row(pictures[4]), (std::vector<int>{0, 0, 255, 255, 0, 0}));
        // 0 degrees is drawn in red.
        EXPECT_EQ(first_row(pictures[5]), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0, 0, 0, 0, 0}));
    }
}

// A vertical gradient is drawn as a horizontal stroke through the middle of its cell; cells without a gradient
// stay black.
TEST(HogPictures, StrokesFollowTheEdges) {
    const HogParameters parameters{.cell = 16, .bins = 5};  // centres at 18, 54, 90, 126 and 162 degrees
    const std::vector<float> cells{0, 0, 7, 0, 0,           //
                                   0, 0, 0, 0, 0};
    const auto picture = hog_strokes({cells.data(), {1, 1, 2, 5}}, parameters);
    ASSERT_EQ(picture.shape(), (Shape{1, 16, 32, 1}));
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 32; ++x)
            ASSERT_EQ(picture.view().row(0, y)[x], x < 16 && y == 8 ? 255 : 0) << x << "," << y;
}

TEST(HogPictures, EnlargeSmallCells) {
    const std::vector<float> cells(2 * 3 * 9, 0);
    EXPECT_EQ(hog_strokes({cells.data(), {1, 2, 3, 9}}, {.cell = 4}).shape(), (Shape{1, 32, 48, 1}));
    EXPECT_EQ(hog_strokes({cells.data(), {1, 2, 3, 9}}, {.cell = 20}).shape(), (Shape{1, 40, 60, 1}));
}

}  // namespace
}  // namespace framewire
