#include "framewire/detect/masks.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <random>
#include <utility>

namespace framewire {
namespace {

TEST(MaskMedianAndOpenCv, OutputsAreEqual) {
    std::mt19937 random(5);
    for (const auto& shape : {Shape{1, 90, 203, 1}, Shape{1, 64, 64, 1}, Shape{1, 5, 130, 1}})
        for (const int size_px : {3, 5, 9, 15, 63}) {
            HostImage image(shape), want(shape), got(shape);
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x)
                    image.view().row(0, y)[x] = random() % 100 < ((x / 20 + y / 15) % 2 == 0 ? 65u : 35u) ? 255 : 0;
            const auto mat = [&](HostImage& of) {
                return cv::Mat(shape.height, shape.width, CV_8UC1, of.view().data());
            };
            cv::Mat to = mat(want);
            cv::medianBlur(mat(image), to, size_px);
            HostBitMask in(shape), out(shape);
            pack_mask(image.view(), in.view());
            MaskMedian(size_px, shape, kit::executor(Backend::cpu)).run(std::as_const(in).view(), out.view());
            unpack_mask(std::as_const(out).view(), got.view());
            EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt) << size_px;
        }
}

}  // namespace
}  // namespace framewire
