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

// Its descriptor of a picture, in our order: OpenCV goes through the columns of blocks, and in a block through the
// columns of cells.
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

// The descriptor of the picture turned by 180 degrees, as one of the picture.
std::vector<float> turned_back(std::vector<float> descriptor, int bins, bool signed_gradients) {
    // All cells of all blocks the other way round, and directions turned with them.
    std::ranges::reverse(descriptor);
    for (auto cell = descriptor.begin(); cell != descriptor.end(); cell += bins) {
        std::reverse(cell, cell + bins);
        if (signed_gradients) std::rotate(cell, cell + bins / 2, cell + bins);
    }
    return descriptor;
}

// OpenCV's votes count most half a pixel off the block's middle; those of the picture upside down half a pixel off the
// other way. Its norm adds something to a block's length, which counts only where there is hardly anything, and its
// directions are within 0.3 degrees.
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
    theirs.L2HysThreshold = 1;  // holds nothing, so that its norm is plain L2
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

TEST(HogAndOpenCv, CentralGradientsAreItsDescriptor) {
    expect_opencvs(8, 2, 9, false);
    expect_opencvs(8, 2, 12, true);
    expect_opencvs(8, 3, 9, false);
    expect_opencvs(12, 2, 9, false);
}

}  // namespace hog_test
}  // namespace framewire
