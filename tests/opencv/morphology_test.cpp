#include "framewire/filters/morphology.hpp"

#include "framewire/filters/opencv_morphology_ref.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace framewire {
namespace {

using enum MorphologyOperation;

// Returns an image whose borders matter, with single extreme pixels.
HostImage picture(const Shape& shape) {
    HostImage image(shape);
    kit::fill(image.view(), kit::Fill::noise);
    for (std::int64_t at = 0; at < shape.bytes(); ++at)
        if (at % 97 != 0) image.view().data()[at] = static_cast<std::uint8_t>(100 + image.view().data()[at] / 8);
    return image;
}

void expect_equal(MorphologyOperation operation, ElementShape element_shape, int size, const cv::Mat& kernel,
                  const Shape& shape) {
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", shape " +
                 std::to_string(static_cast<int>(element_shape)) + ", size " + std::to_string(size));
    auto in = picture(shape);
    HostImage out(shape), want(shape);
    const auto mat = [&](HostImage& image) {
        return cv::Mat(shape.height, shape.width, CV_8UC(shape.channels), image.view().data());
    };
    auto result = mat(want);
    opencv_morphology(operation, mat(in), result, kernel);
    Morphology plan({.operation = operation, .size = size, .shape = element_shape}, shape, kit::executor(Backend::cpu));
    plan.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    EXPECT_EQ(kit::first_difference(out.view(), want.view()), std::nullopt);
}

// Compares with OpenCV's own kernels for its shapes, and with framewire's disc passed to OpenCV as a kernel.
TEST(MorphologyAndOpenCv, OutputsAreEqualForEveryElement) {
    for (int size = 1; size <= max_element_px; size += 2)
        for (const auto operation : {dilate, erode, open, close, close_open}) {
            const Shape shape{1, 67, 83, size % 4 == 1 ? 3 : 1};
            expect_equal(operation, ElementShape::rect, size, cv::getStructuringElement(cv::MORPH_RECT, {size, size}),
                         shape);
            expect_equal(operation, ElementShape::ellipse, size,
                         cv::getStructuringElement(cv::MORPH_ELLIPSE, {size, size}), shape);
            expect_equal(operation, ElementShape::disc, size,
                         opencv_element(StructuringElement(ElementShape::disc, size)), shape);
        }
}

TEST(MorphologyAndOpenCv, OutputsAreEqualForImagesSmallerThanTheElement) {
    for (const auto& shape : {Shape{1, 1, 1, 1}, {1, 1, 40, 3}, {1, 40, 1, 1}, {1, 5, 7, 3}})
        for (const auto operation : {dilate, erode, open, close})
            expect_equal(operation, ElementShape::ellipse, 15, cv::getStructuringElement(cv::MORPH_ELLIPSE, {15, 15}),
                         shape);
}

}  // namespace
}  // namespace framewire
