#pragma once

#include "framewire/core/error.hpp"
#include "framewire/filters/morphology.hpp"

#include <opencv2/imgproc.hpp>

// Support for tests and benchmarks that compare with OpenCV's morphology.

namespace framewire {

/// Returns the structuring element as an OpenCV kernel.
inline cv::Mat opencv_element(const StructuringElement& element) {
    cv::Mat kernel = cv::Mat::zeros(element.diameter(), element.diameter(), CV_8UC1);
    const int radius = element.radius();
    for (int dy = -radius; dy <= radius; ++dy)
        kernel.row(dy + radius).colRange(radius - element.reach(dy), radius + element.reach(dy) + 1).setTo(1);
    return kernel;
}

/// Runs an operation with OpenCV.
inline void opencv_morphology(MorphologyOperation operation, const cv::Mat& in, cv::Mat& out, const cv::Mat& kernel) {
    switch (operation) {
        case MorphologyOperation::none: in.copyTo(out); return;
        case MorphologyOperation::dilate: cv::dilate(in, out, kernel); return;
        case MorphologyOperation::erode: cv::erode(in, out, kernel); return;
        case MorphologyOperation::open: cv::morphologyEx(in, out, cv::MORPH_OPEN, kernel); return;
        case MorphologyOperation::close: cv::morphologyEx(in, out, cv::MORPH_CLOSE, kernel); return;
        case MorphologyOperation::close_open:
            cv::morphologyEx(in, out, cv::MORPH_CLOSE, kernel);
            cv::morphologyEx(out, out, cv::MORPH_OPEN, kernel);
            return;
    }
    fail(ErrorCode::internal, "unknown morphology operation");
}

}  // namespace framewire
