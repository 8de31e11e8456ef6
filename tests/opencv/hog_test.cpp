#include "framewire/hog/hog.hpp"
#include "framewire/core/parameter_fields.hpp"

#include "kit/filter_check.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace framewire {
namespace {

// Returns circles and rectangles of random colours. Most edges are steep, so that the 8 bits of the square root matter
// little.
cv::Mat picture(int width, int height) {
    cv::RNG random(1);
    const auto below = [&](int end) { return random.uniform(0, end); };
    cv::Mat picture(height, width, CV_8UC3, cv::Scalar(40, 80, 120));
    for (int i = 0; i < 40; ++i) {
        cv::Scalar colour;
        for (int channel = 0; channel < 3; ++channel) colour[channel] = below(256);
        const cv::Point at{below(width), below(height)};
        if (i % 2 == 0)
            cv::rectangle(picture, {at, cv::Size{below(48), below(48)}}, colour, cv::FILLED);
        else
            cv::circle(picture, at, below(24), colour, cv::FILLED);
    }
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

// Returns the length of the difference from OpenCV's descriptor, relative to the length of OpenCV's. Blocks at the
// border are excluded, because OpenCV reflects it. OpenCV 4.6 clips all descriptors of a process at the L2HysThreshold
// of the first one, so the tests leave it alone.
double distance(const HogParameters& parameters, const cv::Mat& picture) {
    SCOPED_TRACE(hog_fields().text(parameters));
    const Shape shape{1, picture.rows, picture.cols, picture.channels()};
    Hog hog(parameters, shape, kit::executor(Backend::cpu));
    const auto& of = hog.output_shape();
    std::vector<float> got(static_cast<std::size_t>(of.count()));
    hog.run(HostView<const std::uint8_t>(picture.data, shape), {got.data(), of});

    const int cell = parameters.cell, block = parameters.block;
    cv::HOGDescriptor theirs(picture.size(), {cell * block, cell * block}, {cell, cell}, {cell, cell}, parameters.bins);
    theirs.gammaCorrection = parameters.gamma == HogGamma::sqrt;
    theirs.signedGradient = parameters.signed_gradients;
    const auto want = opencvs(theirs, picture, of, block);
    EXPECT_EQ(got.size(), want.size());
    double squares = 0, differences = 0;
    for (int y = 1; y + 1 < of.rows; ++y)
        for (int x = 1; x + 1 < of.columns; ++x)
            for (int i = 0; i < of.values; ++i) {
                const auto at = static_cast<std::size_t>((y * of.columns + x) * of.values + i);
                const double ours = got[at], other = want[at];
                squares += other * other;
                differences += (ours - other) * (ours - other);
            }
    EXPECT_GT(squares, 10);  // most blocks have edges; the length of each of these is 1
    return std::sqrt(differences / squares);
}

// OpenCV's directions are within 0.0096 degrees of the arctangent, for all differences of two bytes. This moves 0.0096
// of 20 degrees of a vote from one bin to the next, which changes a vote that is split in halves by 0.1 %.
constexpr double of_directions = 0.001;

// The root of a byte, rounded to a byte, changes the gradients of this picture by 0.42 levels (root mean square). They
// have 116 levels, so this is 0.36 %.
constexpr double of_rounded_root = 0.0036;

TEST(HogAndOpenCv, CentralGradientsMatchHogDescriptor) {
    const auto colour = picture(128, 192);
    cv::Mat gray;
    cv::cvtColor(colour, gray, cv::COLOR_BGR2GRAY);
    HogParameters parameters = hog_preset(HogPreset::opencv);
    parameters.gamma = HogGamma::none;
    EXPECT_LT(distance(parameters, colour), of_directions);
    EXPECT_LT(distance(parameters, gray), of_directions);
    parameters.block = 3;
    EXPECT_LT(distance(parameters, colour), of_directions);
    parameters.cell = 16;
    EXPECT_LT(distance(parameters, colour), of_directions);
    parameters.bins = 12;
    parameters.signed_gradients = true;
    EXPECT_LT(distance(parameters, colour), of_directions);
}

// The preset `opencv` computes the descriptor of OpenCV's people detector.
TEST(HogAndOpenCv, ThePresetMatchesTheDescriptorOfThePeopleDetector) {
    EXPECT_LT(distance(hog_preset(HogPreset::opencv), picture(128, 192)), of_directions + of_rounded_root);
}

}  // namespace
}  // namespace framewire
