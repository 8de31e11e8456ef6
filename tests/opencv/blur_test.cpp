#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/mean.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <string>

namespace framewire {
namespace {

struct BorderPair {
    Border ours;
    int theirs;
};

constexpr BorderPair borders[] = {{Border::reflect101, cv::BORDER_REFLECT_101},
                                  {Border::replicate, cv::BORDER_REPLICATE},
                                  {Border::zero, cv::BORDER_CONSTANT}};

// Runs plan and peer on noise, and expects no byte to differ by more than `tolerance`.
template <class Plan, class Peer>
void expect_close(const Plan& plan, Peer&& peer, const Shape& shape, int tolerance) {
    HostImage in(shape), out(shape), want(shape);
    kit::fill(in.view(), kit::Fill::noise);
    const auto mat = [&](HostImage& image) {
        return cv::Mat(shape.height, shape.width, CV_8UC(shape.channels), image.view().data());
    };
    auto result = mat(want);
    peer(mat(in), result);
    plan.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    EXPECT_EQ(kit::first_difference(out.view(), want.view(), tolerance), std::nullopt);
}

TEST(MeanAndOpenCv, DiffersFromBlurByAtMostOne) {
    for (const int channels : {1, 3})
        for (const auto& border : borders)
            for (const int size : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 63, 127, 128, 255}) {
                SCOPED_TRACE("size " + std::to_string(size) + ", border " + std::to_string(border.theirs));
                const Shape shape{1, 211, 307, channels};
                const Mean mean({.size = size, .border = border.ours}, shape, kit::executor(Backend::cpu));
                expect_close(
                    mean,
                    [&](const cv::Mat& in, cv::Mat& out) {
                        cv::blur(in, out, {size, size}, {-1, -1}, border.theirs);
                    },
                    shape, 1);
            }
}

// Compares a Gaussian with `peer`, which takes an image, a size, a sigma (0: the peer's default) and OpenCV's border.
template <class Peer>
void expect_gaussian(GaussianParameters parameters, const BorderPair& border, const Shape& shape, Peer&& peer,
                     int tolerance) {
    SCOPED_TRACE("size " + std::to_string(parameters.size) + ", sigma " + std::to_string(parameters.sigma) +
                 ", border " + std::to_string(border.theirs) + ", " + to_string(shape));
    parameters.border = border.ours;
    const Gaussian gaussian(parameters, shape, kit::executor(Backend::cpu));
    expect_close(
        gaussian,
        [&](const cv::Mat& in, cv::Mat& out) { peer(in, out, parameters.size, parameters.sigma, border.theirs); },
        shape, tolerance);
}

void gaussian_blur(const cv::Mat& in, cv::Mat& out, int size, double sigma, int border) {
    cv::GaussianBlur(in, out, {size, size}, sigma, sigma, border);
}

// Compares with OpenCV's filter in floating point: on bytes, OpenCV's weights have 8 bits, which makes it differ by
// more than one for some sigmas. Only odd sizes are compared: OpenCV's kernels of even size are not samples of a
// Gaussian (their two middle weights are too large).
TEST(GaussianAndOpenCv, FineRoundingDiffersFromTheFloatFilterByAtMostOne) {
    const auto float_filter = [](const cv::Mat& in, cv::Mat& out, int size, double sigma, int border) {
        // OpenCV has its own table for small sizes without a sigma.
        const auto kernel = cv::getGaussianKernel(size, sigma == 0 ? default_gaussian_sigma(size) : sigma, CV_64F);
        cv::Mat exact, filtered;
        in.convertTo(exact, CV_64F);
        cv::sepFilter2D(exact, filtered, -1, kernel, kernel, {-1, -1}, 0, border);
        filtered.convertTo(out, CV_8U);
    };
    for (const int channels : {1, 3})
        for (const auto& border : borders)
            for (const int size : {1, 3, 5, 7, 9, 15, 31, 63, 255})
                for (const double sigma : {0.0, 0.8, 2.0, 30.0})
                    expect_gaussian({.size = size, .sigma = sigma}, border, {1, 211, 307, channels}, float_filter, 1);
}

// For larger sizes, results of the finer weights differ from OpenCV's by two in places.
TEST(GaussianAndOpenCv, FineRoundingOfSmallSizesDiffersFromGaussianBlurByAtMostOne) {
    for (const int channels : {1, 3})
        for (const auto& border : borders)
            for (const int size : {1, 3, 5, 7, 9})
                expect_gaussian(
                    {.size = size}, border, {1, 211, 307, channels},
                    [](const cv::Mat& in, cv::Mat& out, int of_size, double, int of_border) {
                        gaussian_blur(in, out, of_size, default_gaussian_sigma(of_size), of_border);
                    },
                    1);
}

TEST(GaussianAndOpenCv, OpenCvRoundingEqualsGaussianBlurForEverySize) {
    for (int size = 1; size <= 255; size += size < 65 ? 2 : 14)
        for (const double sigma : {0.0, 0.3, 0.8, 2.0, 30.0, size / 6.0})
            for (const int channels : {1, 3})
                expect_gaussian({.size = size, .sigma = sigma, .rounding = GaussianRounding::opencv},
                                borders[size / 2 % 3], {1, 67, 131, channels}, gaussian_blur, 0);
}

TEST(GaussianAndOpenCv, OpenCvRoundingEqualsGaussianBlurForEveryShapeAndBorder) {
    for (const auto& border : borders)
        for (const int size : {3, 5, 7, 15, 31})
            for (const int channels : {1, 3})
                for (const auto& shape :
                     {Shape{1, 1, 1, channels}, Shape{1, 1, 40, channels}, Shape{1, 40, 1, channels},
                      Shape{1, 2, 3, channels}, Shape{1, 33, 17, channels}, Shape{1, 576, 768, channels}})
                    expect_gaussian({.size = size, .rounding = GaussianRounding::opencv}, border, shape, gaussian_blur,
                                    0);
}

}  // namespace
}  // namespace framewire
