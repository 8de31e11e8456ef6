#include "framewire/hog/hog.hpp"

#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {
namespace {

// Returns a picture in which nearly all pixels have one gray value, which the gamma does not change. The border, which
// the two implementations treat differently, is flat. A few pixels are darker or brighter.
cv::Mat picture(int width, int height) {
    cv::Mat picture(height, width, CV_8UC1, cv::Scalar(101));
    cv::circle(picture, {width / 2, height / 3}, width / 10, cv::Scalar(20), cv::FILLED);
    cv::line(picture, {width / 4, height * 2 / 3}, {width * 3 / 4, height * 3 / 4}, cv::Scalar(250), 4);
    cv::GaussianBlur(picture, picture, {5, 5}, 1);
    return picture;
}

// Returns OpenCV's descriptor of a picture in framewire's order: OpenCV stores blocks by columns, and the cells of a
// block by columns.
std::vector<float> opencvs(const cv::HOGDescriptor& theirs, const cv::Mat& picture, const HogShape& shape, int block) {
    std::vector<float> columns;
    theirs.compute(picture, columns);
    std::vector<float> rows(columns.size());
    const int bins = theirs.nbins;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.columns; ++x)
            for (int cell = 0; cell < block * block; ++cell)
                std::copy_n(columns.begin() + (x * shape.rows + y) * shape.values +
                                (cell % block * block + cell / block) * bins,
                            bins, rows.begin() + (y * shape.columns + x) * shape.values + cell * bins);
    return rows;
}

// Converts the descriptor of the picture rotated by 180 degrees into that of the picture.
std::vector<float> turned_back(std::vector<float> descriptor, int bins, bool signed_gradients) {
    // Reverse the cells of all blocks and rotate their directions.
    std::ranges::reverse(descriptor);
    for (auto cell = descriptor.begin(); cell != descriptor.end(); cell += bins) {
        std::reverse(cell, cell + bins);
        if (signed_gradients) std::rotate(cell, cell + bins / 2, cell + bins);
    }
    return descriptor;
}

// Compares the sum of a picture's and the rotated picture's descriptors with OpenCV's: OpenCV counts most votes half a
// pixel off the block's middle, and for the rotated picture half a pixel to the other side. Its norm adds a constant to
// a block's length, which only matters for nearly flat blocks, and its directions are within 0.3 degrees.
void expect_opencvs(int cell, int block, int bins, bool signed_gradients) {
    SCOPED_TRACE(fmt::format("cells of {}, blocks of {}, {} bins, signed {}", cell, block, bins, signed_gradients));
    const int width = cell * 10, height = cell * 16;
    const auto image = picture(width, height);
    const Shape shape{1, height, width, 1};
    Hog hog({.gradient = HogGradient::central,
             .cell = cell,
             .bins = bins,
             .signed_gradients = signed_gradients,
             .norm = HogNorm::l2,
             .block = block},
            shape, kit::executor(Backend::cpu));
    const auto& of = hog.output_shape();
    std::vector<float> got(static_cast<std::size_t>(of.count()));
    hog.run(HostView<const std::uint8_t>(image.data, shape), {got.data(), of});

    cv::HOGDescriptor theirs({width, height}, {cell * block, cell * block}, {cell, cell}, {cell, cell}, bins);
    theirs.gammaCorrection = false;
    theirs.signedGradient = signed_gradients;
    theirs.L2HysThreshold = 1;  // clips nothing, so that its norm is plain L2
    cv::Mat turned;
    cv::flip(image, turned, -1);
    const auto one = opencvs(theirs, image, of, block),
               other = turned_back(opencvs(theirs, turned, of, block), bins, signed_gradients);
    ASSERT_EQ(got.size(), one.size());
    int compared = 0;
    double least = 1;
    for (int y = 0; y < of.rows; ++y)
        for (int x = 0; x < of.columns; ++x) {
            double darkest = 0, brightest = 0;
            cv::minMaxLoc(image(cv::Rect(x * cell, y * cell, block * cell, block * cell)), &darkest, &brightest);
            if (brightest - darkest < 10) continue;
            ++compared;
            double product = 0, ours = 0, want = 0;
            for (int i = (y * of.columns + x) * of.values; i < (y * of.columns + x + 1) * of.values; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const double a = got[at], b = one[at] + other[at];
                product += a * b;
                ours += a * a;
                want += b * b;
            }
            least = std::min(least, product / std::sqrt(ours * want));
        }
    EXPECT_GT(least, 0.999);
    EXPECT_GT(compared, of.rows * of.columns / 8);
}

// The preset `opencv` computes the descriptor of OpenCV's people detector in colour. Blocks at the border are excluded,
// because OpenCV reflects it. The rest are the 8 bits of our square root, and OpenCV's directions.
TEST(HogAndOpenCv, ThePresetMatchesTheDescriptorOfThePeopleDetector) {
    constexpr int width = 128, height = 160;
    cv::Mat image(height, width, CV_8UC3);
    for (int channel = 0; channel < 3; ++channel)
        cv::insertChannel(picture(width + 8 * channel, height)(cv::Rect(8 * channel, 0, width, height)), image,
                          channel);
    const Shape shape{1, height, width, 3};
    Hog hog(hog_preset(HogPreset::opencv), shape, kit::executor(Backend::cpu));
    const auto& of = hog.output_shape();
    std::vector<float> got(static_cast<std::size_t>(of.count()));
    hog.run(HostView<const std::uint8_t>(image.data, shape), {got.data(), of});
    const cv::HOGDescriptor theirs({width, height}, {16, 16}, {8, 8}, {8, 8}, 9);
    const auto want = opencvs(theirs, image, of, 2);
    ASSERT_EQ(got.size(), want.size());
    double squares = 0, differences = 0;
    for (int y = 1; y + 1 < of.rows; ++y)
        for (int x = 1; x + 1 < of.columns; ++x)
            for (int i = 0; i < of.values; ++i) {
                const auto at = static_cast<std::size_t>((y * of.columns + x) * of.values + i);
                squares += want[at] * want[at];
                differences += (got[at] - want[at]) * (got[at] - want[at]);
            }
    EXPECT_GT(squares, 10);
    EXPECT_LT(std::sqrt(differences / squares), 0.05);
}

TEST(HogAndOpenCv, CentralGradientsMatchHogDescriptor) {
    expect_opencvs(8, 2, 9, false);
    expect_opencvs(8, 2, 12, true);
    expect_opencvs(8, 3, 9, false);
    expect_opencvs(12, 2, 9, false);
}

}  // namespace
}  // namespace framewire
