#include "framewire/detect/detector.hpp"

#include "framewire/media/media.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace framewire {
namespace detector_test {

constexpr const char* clip = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";  // of Debian's opencv-doc
constexpr int blur_px = 15, threshold = 20, diameter_px = 15, min_area = 100;

using Box = std::array<int, 5>;  // x, y, width, height, area

// The moving-object chain made of OpenCV's calls, from blurred gray frames on.
std::vector<Box> boxes_by_opencv(const cv::Mat& blurred, const cv::Mat& background) {
    cv::Mat difference, mask, labels, figures, centroids;
    cv::absdiff(blurred, background, difference);
    cv::threshold(difference, mask, threshold, 255, cv::THRESH_BINARY);
    cv::morphologyEx(mask, mask, cv::MORPH_CLOSE,
                     cv::getStructuringElement(cv::MORPH_ELLIPSE, {diameter_px, diameter_px}));
    const int count = cv::connectedComponentsWithStats(mask, labels, figures, centroids, 8);
    std::vector<Box> boxes;
    for (int label = 1; label < count; ++label) {
        const auto* figure = figures.ptr<int>(label);
        if (figure[cv::CC_STAT_AREA] >= min_area)
            boxes.push_back({figure[cv::CC_STAT_LEFT], figure[cv::CC_STAT_TOP], figure[cv::CC_STAT_WIDTH],
                             figure[cv::CC_STAT_HEIGHT], figure[cv::CC_STAT_AREA]});
    }
    std::sort(boxes.begin(), boxes.end());
    return boxes;
}

std::vector<Box> boxes_of(MotionDetector& detector, HostView<const std::uint8_t> frame) {
    detector.run(frame);
    std::vector<Box> boxes;
    for (const auto& object : detector.fetch().of_frame())
        boxes.push_back({object.x, object.y, object.width, object.height, object.area});
    std::sort(boxes.begin(), boxes.end());
    return boxes;
}

TEST(DetectorAndOpenCv, FindTheSameBoxesInAClip) {
    // The clip is too large to lie with the tests; scripts/deps.sh installs it.
    FRAMEWIRE_NEEDS(std::filesystem::exists(clip), std::string("there is no ") + clip + " (Debian: opencv-doc)");
    const auto source = open_source(clip);
    const auto shape = source->info().shape;
    auto& executor = kit::executor(Backend::cpu);
    DetectorParameters parameters{.background = FirstFrame{}, .shape = ElementShape::ellipse};
    MotionDetector whole(parameters, shape, executor);
    parameters.blur_px = 1;
    MotionDetector from_blurred(parameters, shape.with_channels(1), executor);

    HostImage frame(shape);
    FrameTime time;
    cv::Mat gray, blurred, background;
    int frames = 0, equal_frames = 0;
    std::size_t boxes = 0;
    while (source->read(frame.view(), time)) {
        cv::cvtColor(cv::Mat(shape.height, shape.width, CV_8UC3, frame.view().data()), gray, cv::COLOR_BGR2GRAY);
        cv::GaussianBlur(gray, blurred, {blur_px, blur_px}, 0);
        if (frames == 0) background = blurred.clone();
        const auto want = boxes_by_opencv(blurred, background);
        ASSERT_EQ(boxes_of(from_blurred, {blurred.data, shape.with_channels(1)}), want) << "frame " << frames;
        const auto same_box = [](const Box& one, const Box& other) { return std::equal(&one[0], &one[4], &other[0]); };
        equal_frames += std::ranges::equal(boxes_of(whole, std::as_const(frame).view()), want, same_box) ? 1 : 0;
        boxes += want.size();
        ++frames;
    }
    ASSERT_GT(frames, 700);
    ASSERT_GT(boxes, 1000u);
    // The two Gaussians round differently.
    std::cout << "[  FIGURE  ] with its own blur, " << equal_frames << " of " << frames
              << " frames have OpenCV's boxes\n";
    EXPECT_GE(equal_frames, frames * 8 / 10);
}

}  // namespace detector_test
}  // namespace framewire
