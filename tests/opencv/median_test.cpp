#include "framewire/filters/median.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace framewire {
namespace {

// Fills an image with smooth shading, hard edges and sensor noise, as from a camera.
void fill_scene(HostView<std::uint8_t> image) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()));
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            for (int channel = 0; channel < shape.channels; ++channel) {
                const double shading = 128 + 80 * std::sin(x * 0.02 + channel) * std::cos(y * 0.03);
                const int edges = (x / 37 + y / 23) % 3 * 30, noise = static_cast<int>(random() % 31) - 15;
                image.row(0, y)[x * shape.channels + channel] =
                    static_cast<std::uint8_t>(std::clamp(static_cast<int>(shading) + edges + noise, 0, 255));
            }
}

void expect_same(const Shape& shape, int size, bool scene) {
    SCOPED_TRACE("size " + std::to_string(size) + ", " + to_string(shape) + (scene ? ", scene" : ", noise"));
    HostImage in(shape), out(shape), want(shape);
    scene ? fill_scene(in.view()) : kit::fill(in.view(), kit::Fill::noise);
    Median median({.size = size, .border = Border::replicate}, shape, kit::executor(Backend::cpu));
    median.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    const int type = shape.channels == 3 ? CV_8UC3 : CV_8UC1;
    cv::Mat to(shape.height, shape.width, type, want.view().data());
    cv::medianBlur(cv::Mat(shape.height, shape.width, type, in.view().data()), to, size);
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

TEST(MedianAndOpenCv, OutputsAreEqualForEverySize) {
    for (int size = 3; size <= 255; size += size < 35 ? 2 : 22)
        for (const int channels : {3, 1})
            for (const bool scene : {false, true}) expect_same({1, 217, 331, channels}, size, scene);
    expect_same({1, 217, 331, 3}, 255, true);
}

TEST(MedianAndOpenCv, OutputsAreEqualForFramesLargerThanABlock) {
    for (const int size : {3, 5, 9, 25}) expect_same({1, 720, 1283, 3}, size, true);
    for (const int size : {5, 11, 13}) expect_same({1, 300, 4099, 1}, size, true);
}

}  // namespace
}  // namespace framewire
