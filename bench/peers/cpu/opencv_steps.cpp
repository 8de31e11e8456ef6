#include "peers/cpu/opencv_steps.hpp"

#if FRAMEWIRE_OPENCV
#include "framewire/filters/opencv_morphology_ref.hpp"

#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {

#if FRAMEWIRE_OPENCV
namespace opencv_steps {

cv::Mat mat(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    return {shape.height, shape.width, CV_8UC(shape.channels), image.data()};
}

// Returns a step whose calls take two matrices.
template <class Calls>
HostStep step(Calls calls) {
    return [calls](HostView<std::uint8_t> in, HostView<std::uint8_t> out) mutable {
        auto to = mat(out);
        calls(mat(in), to);
    };
}

}  // namespace opencv_steps

void use_opencv_threads(int threads) { cv::setNumThreads(threads); }

HostStep opencv_gray() {
    return opencv_steps::step([](const cv::Mat& in, cv::Mat& out) { cv::cvtColor(in, out, cv::COLOR_BGR2GRAY); });
}

HostStep opencv_mean(int size) {
    return opencv_steps::step([size](const cv::Mat& in, cv::Mat& out) {
        cv::blur(in, out, {size, size}, {-1, -1}, cv::BORDER_REFLECT_101);
    });
}

HostStep opencv_gaussian(int size) {
    return opencv_steps::step([size](const cv::Mat& in, cv::Mat& out) {
        cv::GaussianBlur(in, out, {size, size}, 0, 0, cv::BORDER_REFLECT_101);
    });
}

HostStep opencv_median(int size) {
    return opencv_steps::step([size](const cv::Mat& in, cv::Mat& out) { cv::medianBlur(in, out, size); });
}

HostStep opencv_morphology(MorphologyOperation operation, ElementShape shape, int size) {
    const auto kernel = opencv_element(StructuringElement(shape, size));
    return opencv_steps::step([operation, kernel](const cv::Mat& in, cv::Mat& out) {
        framewire::opencv_morphology(operation, in, out, kernel);
    });
}

HostStep opencv_otsu() {
    return opencv_steps::step([gray = cv::Mat(), white = cv::Mat()](const cv::Mat& in, cv::Mat& out) mutable {
        cv::cvtColor(in, gray, cv::COLOR_BGR2GRAY);
        cv::threshold(gray, white, 0, 255, cv::THRESH_OTSU);
        cv::cvtColor(white, out, cv::COLOR_GRAY2BGR);
    });
}

HostStep opencv_mosaic(int cell_px) {
    return opencv_steps::step([cell_px, cells = cv::Mat()](const cv::Mat& in, cv::Mat& out) mutable {
        const cv::Size size((in.cols + cell_px - 1) / cell_px, (in.rows + cell_px - 1) / cell_px);
        cv::resize(in, cells, size, 0, 0, cv::INTER_AREA);
        cv::resize(cells, out, out.size(), 0, 0, cv::INTER_NEAREST);
    });
}

HostStep opencv_area() {
    return opencv_steps::step(
        [](const cv::Mat& in, cv::Mat& out) { cv::resize(in, out, out.size(), 0, 0, cv::INTER_AREA); });
}

HostStep opencv_bilinear() {
    return opencv_steps::step(
        [](const cv::Mat& in, cv::Mat& out) { cv::resize(in, out, out.size(), 0, 0, cv::INTER_LINEAR); });
}

HostStep opencv_text(const std::string& text, int x, int y, int size_px) {
    return opencv_steps::step([=](const cv::Mat& in, cv::Mat& out) {
        constexpr double face_px = 22;  // height of the Hershey face at scale 1
        in.copyTo(out);
        cv::putText(out, text, {x, y + size_px}, cv::FONT_HERSHEY_SIMPLEX, size_px / face_px / 1.4, {255, 255, 255}, 3,
                    cv::LINE_AA);
    });
}

HostStep opencv_convolve(const std::vector<int>& matrix, int size) {
    cv::Mat kernel(size, size, CV_32F);
    for (int index = 0; index < size * size; ++index)
        kernel.at<float>(index / size, index % size) = static_cast<float>(matrix[static_cast<std::size_t>(index)]);
    return opencv_steps::step([kernel](const cv::Mat& in, cv::Mat& out) {
        cv::filter2D(in, out, CV_8U, kernel, {-1, -1}, 0, cv::BORDER_REFLECT_101);
    });
}

HostStep opencv_to_yuv() {
    return opencv_steps::step([](const cv::Mat& in, cv::Mat& out) { cv::cvtColor(in, out, cv::COLOR_BGR2YUV_I420); });
}

HostStep opencv_from_yuv() {
    return opencv_steps::step([](const cv::Mat& in, cv::Mat& out) { cv::cvtColor(in, out, cv::COLOR_YUV2BGR_I420); });
}
#else
void use_opencv_threads(int) {}
HostStep opencv_gray() { return {}; }
HostStep opencv_mean(int) { return {}; }
HostStep opencv_gaussian(int) { return {}; }
HostStep opencv_median(int) { return {}; }
HostStep opencv_morphology(MorphologyOperation, ElementShape, int) { return {}; }
HostStep opencv_otsu() { return {}; }
HostStep opencv_mosaic(int) { return {}; }
HostStep opencv_area() { return {}; }
HostStep opencv_bilinear() { return {}; }
HostStep opencv_text(const std::string&, int, int, int) { return {}; }
HostStep opencv_convolve(const std::vector<int>&, int) { return {}; }
HostStep opencv_to_yuv() { return {}; }
HostStep opencv_from_yuv() { return {}; }
#endif

}  // namespace framewire::bench
