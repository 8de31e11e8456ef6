#include "framewire/detect/mixture.hpp"

#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/video/background_segm.hpp>

#include <algorithm>
#include <cstdint>
#include <random>

namespace framewire {
namespace {

// Draws a static room with sensor noise in slowly changing light, in which objects pass with their shadows, and a part
// that flickers between two colours.
void draw(HostView<std::uint8_t> image, int frame, std::mt19937& random) {
    std::normal_distribution<float> noise(0, 3);
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const int object_x = (frame * 3) % shape.width, dx = x - object_x;
            const bool object = dx >= 0 && dx < 25 && y >= 40 && y < 70,
                       shade = dx >= 0 && dx < 25 && y >= 70 && y < 85;
            const bool flickers = y < 20 && random() % 3 == 0;
            for (int c = 0; c < shape.channels; ++c) {
                const float room = 70.0f + static_cast<float>((x / 12 + y / 9) % 2 * 30 + c * 15) +
                                   0.1f * static_cast<float>(frame) + (flickers ? 60.0f : 0.0f);
                const float value = object ? 190.0f - 50.0f * static_cast<float>(c) : shade ? 0.7f * room : room;
                image.row(0, y)[x * shape.channels + c] =
                    static_cast<std::uint8_t>(std::clamp(value + noise(random), 0.0f, 255.0f));
            }
        }
}

// Both implementations use the same method, but OpenCV keeps floats: each rounding changes framewire's means by at most
// 1/256, variances by 1/256 and weights by 1/65536, and such an error lasts for a while. A verdict differs only if the
// squared distance is that close to a threshold: in at most 3 of 10000 measured pixels, most of them in the flickering
// part, where weights come close to each other. The test allows ten times as many.
TEST(MixtureAndOpenCv, AgreeOnNearlyEveryPixel) {
    for (const int channels : {3, 1}) {
        const Shape shape{1, 120, 203, channels};
        MixtureBackground mixture(opencv_mixture, shape, kit::executor(Backend::cpu));
        const auto peer = cv::createBackgroundSubtractorMOG2();
        HostImage image(shape), found(shape.with_channels(1)), dark(shape.with_channels(1));
        HostBitMask foreground(shape), shadows(shape);
        std::mt19937 random(4);
        std::int64_t pixels = 0, differing = 0, moving = 0, shaded = 0;
        for (int frame = 0; frame < 300; ++frame) {
            draw(image.view(), frame, random);
            mixture.run(image.view(), foreground.view(), shadows.view());
            unpack_mask(foreground.view(), found.view());
            unpack_mask(shadows.view(), dark.view());
            cv::Mat mask;
            peer->apply(cv::Mat(shape.height, shape.width, CV_8UC(channels), image.view().data()), mask);
            // Until its fifth frame, OpenCV takes a pixel's first component for the object that casts the shadow.
            if (frame < 5) continue;
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const int verdict = found.view().row(0, y)[x] ? 255 : dark.view().row(0, y)[x] ? 127 : 0;
                    ++pixels;
                    differing += verdict != mask.at<std::uint8_t>(y, x);
                    moving += verdict == 255;
                    shaded += verdict == 127;
                }
        }
        const auto share = static_cast<double>(differing) / static_cast<double>(pixels);
        EXPECT_LT(share, 0.003) << channels << " channels";
        // The clip must have moving and shaded pixels, so that there is something to agree on.
        EXPECT_GT(moving, pixels / 100);
        EXPECT_GT(shaded, pixels / 500);
        fmt::print("[   SHARE  ] {:.5f} of the pixels differ from OpenCV's ({} channels)\n", share, channels);
    }
}

}  // namespace
}  // namespace framewire
