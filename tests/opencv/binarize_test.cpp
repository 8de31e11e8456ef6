#include "framewire/filters/binarize.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <random>

namespace framewire {
namespace {

// Fills gray images with histograms of every kind: one value, two, few, hills, noise, and hills with gaps.
void fill_kind(HostView<std::uint8_t> image, int kind, std::mt19937& random) {
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    const int values = 1 + kind % 6, spread = kind % 4 * below(30), gap = 1 + kind % 3;
    std::uint8_t centers[6];
    for (auto& center : centers) center = static_cast<std::uint8_t>(random());
    for (int y = 0; y < image.shape().height; ++y)
        for (int x = 0; x < image.shape().width; ++x) {
            int value = centers[below(static_cast<unsigned>(values))];
            for (int i = 0; i < spread; ++i) value += below(3) - 1;
            image.row(0, y)[x] = static_cast<std::uint8_t>(std::clamp(value / gap * gap, 0, 255));
        }
}

TEST(BinarizeAndOpenCv, OtsuThresholdsAreEqualForManyImages) {
    auto& executor = kit::executor(Backend::cpu);
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    for (int kind = 0; kind < 1000; ++kind) {
        const Shape shape{1, 1 + static_cast<int>(random() % 90), 1 + static_cast<int>(random() % 90), 1};
        SCOPED_TRACE("image " + std::to_string(kind) + ", " + to_string(shape));
        HostImage in(shape), out(shape), want(shape);
        fill_kind(in.view(), kind, random);
        Binarize binarize({.method = ThresholdMethod::otsu}, shape, executor);
        binarize.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        const cv::Mat from(shape.height, shape.width, CV_8UC1, in.view().data());
        cv::Mat to(shape.height, shape.width, CV_8UC1, want.view().data());
        const double threshold = cv::threshold(from, to, 0, 255, cv::THRESH_OTSU);
        ASSERT_EQ(binarize.figures().at(0).value, threshold);
        ASSERT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
    }
}

// One pixel in 2^23 is the smallest share at which OpenCV considers a class.
TEST(BinarizeAndOpenCv, OtsuThresholdsAreEqualForOneDarkPixelInEightMillion) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int width : {4096, 4095, 4097}) {
        const Shape shape{1, 2048, width, 1};
        HostImage in(shape), out(shape);
        std::fill_n(in.view().data(), shape.bytes(), std::uint8_t{200});
        in.view().data()[shape.bytes() / 2] = 20;
        Binarize binarize({.method = ThresholdMethod::otsu}, shape, executor);
        binarize.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        cv::Mat to;
        const double threshold =
            cv::threshold(cv::Mat(shape.height, shape.width, CV_8UC1, in.view().data()), to, 0, 255, cv::THRESH_OTSU);
        EXPECT_EQ(binarize.figures().at(0).value, threshold) << width;
    }
}

}  // namespace
}  // namespace framewire
