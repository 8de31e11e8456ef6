#pragma once

#include "framewire/core/view.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/filters/opencv_morphology_ref.hpp"

#include <opencv2/imgproc.hpp>

#include <cstdint>
#include <vector>

// For benchmarks that compare with OpenCV.

namespace framewire {

/// The chain of the moving-object report with a background picture, made of OpenCV calls (table 5 of the report).
class OpencvDetector {
public:
    explicit OpencvDetector(const DetectorParameters& parameters)
        : parameters_(parameters), element_(opencv_element({parameters.shape, parameters.diameter_px})) {}

    /// Sets the background. `picture` is a BGR image without gaps, like the frames.
    void set_background(HostView<const std::uint8_t> picture) {
        grayscale(picture);
        blur();
        background_ = blurred_.clone();
    }
    /// Runs all steps without returning the objects.
    void run(HostView<const std::uint8_t> frame) {
        grayscale(frame);
        blur();
        subtract();
        apply_threshold();
        close();
        label();
    }

    void grayscale(HostView<const std::uint8_t> frame) {
        // OpenCV has no const pixels, but it only reads them.
        const cv::Mat bgr(frame.shape().height, frame.shape().width, CV_8UC3, const_cast<std::uint8_t*>(frame.data()));
        cv::cvtColor(bgr, gray_, cv::COLOR_BGR2GRAY);
    }
    void blur() { cv::GaussianBlur(gray_, blurred_, {parameters_.blur_px, parameters_.blur_px}, 0); }
    void subtract() { cv::absdiff(blurred_, background_, difference_); }
    void apply_threshold() { cv::threshold(difference_, mask_, parameters_.threshold, 255, cv::THRESH_BINARY); }
    void close() { cv::morphologyEx(mask_, closed_, cv::MORPH_CLOSE, element_); }
    void label() {
        count_ = cv::connectedComponentsWithStats(closed_, labels_, figures_, centroids_, parameters_.connectivity);
    }
    /// Returns the objects with OpenCV's numbers and without the sums of coordinates.
    std::vector<Component> boxes() const {
        std::vector<Component> all;
        for (int id = 1; id < count_; ++id) {
            const auto* of = figures_.ptr<int>(id);
            all.push_back({id, of[cv::CC_STAT_LEFT], of[cv::CC_STAT_TOP], of[cv::CC_STAT_WIDTH], of[cv::CC_STAT_HEIGHT],
                           of[cv::CC_STAT_AREA], 0, 0});
        }
        return all;
    }

private:
    DetectorParameters parameters_;
    cv::Mat element_, gray_, blurred_, background_, difference_, mask_, closed_, labels_, figures_, centroids_;
    int count_ = 0;
};

}  // namespace framewire
