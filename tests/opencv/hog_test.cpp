#include "framewire/hog/hog.hpp"

#include "kit/filter_check.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {
namespace hog_test {

// Nearly all of one gray value, of which the gamma leaves everything as it is, and flat at the border, where both have
// ways of their own. Few pixels are darker and few brighter.
cv::Mat picture(int width, int height) {
    cv::Mat picture(height, width, CV_8UC1, cv::Scalar(101));
    cv::circle(picture, {width / 2, height / 3}, width / 10, cv::Scalar(20), cv::FILLED);
    cv::line(picture, {width / 4, height * 2 / 3}, {width * 3 / 4, height * 3 / 4}, cv::Scalar(250), 4);
    cv::GaussianBlur(picture, picture, {5, 5}, 1);
    return picture;
}

// OpenCV goes through the columns of blocks, and in a block through the columns of cells. Its norm adds something to a
// block's length, which counts only where there is hardly anything, and its directions are within 0.3 degrees, so that
// up to 1/67 of a vote may go to the other of two bins.
void expect_opencvs(int cell, int block, int bins, bool signed_gradients) {
    SCOPED_TRACE(cell * 100 + block * 10 + signed_gradients);
    const int width = cell * 10, height = cell * 16;
    const auto image = picture(width, height);
    cv::HOGDescriptor theirs({width, height}, {cell * block, cell * block}, {cell, cell}, {cell, cell}, bins);
    theirs.gammaCorrection = false;
    theirs.signedGradient = signed_gradients;
    theirs.L2HysThreshold = 1;  // holds nothing, so that its norm is plain L2, but for what it adds
    std::vector<float> want;
    theirs.compute(image, want);

    const Shape shape{1, height, width, 1};
    Hog hog({.gradient = HogGradient::central,
             .cell = cell,
             .bins = bins,
             .signed_gradients = signed_gradients,
             .norm = HogNorm::l2,
             .block = block},
            shape, kit::executor(Backend::cpu));
    std::vector<float> got(static_cast<std::size_t>(hog.output_shape().count()));
    hog.run(HostView<const std::uint8_t>(image.data, shape), {got.data(), hog.output_shape()});
    const auto& of = hog.output_shape();
    ASSERT_EQ(got.size(), want.size());
    int compared = 0;
    for (int y = 0; y < of.rows; ++y)
        for (int x = 0; x < of.columns; ++x) {
            std::vector<float> ours(got.begin() + (y * of.columns + x) * of.values,
                                    got.begin() + (y * of.columns + x + 1) * of.values);
            std::vector<float> block_of_theirs(ours.size());
            for (int row = 0; row < block; ++row)
                for (int column = 0; column < block; ++column)
                    std::copy_n(want.begin() + (x * of.rows + y) * of.values + (column * block + row) * bins, bins,
                                block_of_theirs.begin() + (row * block + column) * bins);
            double darkest = 0, brightest = 0;
            cv::minMaxLoc(image(cv::Rect(x * cell, y * cell, block * cell, block * cell)), &darkest, &brightest);
            if (brightest - darkest < 10) continue;
            ++compared;
            for (std::size_t i = 0; i < ours.size(); ++i)
                ASSERT_NEAR(ours[i], block_of_theirs[i], 0.01) << "block " << y << ", " << x << ", value " << i;
        }
    EXPECT_GT(compared, of.rows * of.columns / 8);
}

TEST(HogAndOpenCv, CentralGradientsAreItsDescriptor) {
    expect_opencvs(8, 2, 9, false);
    expect_opencvs(8, 2, 12, true);
    expect_opencvs(8, 3, 9, false);
    expect_opencvs(6, 1, 9, false);
}

}  // namespace hog_test
}  // namespace framewire
