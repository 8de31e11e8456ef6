#include "framewire/filters/mosaic.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>

namespace framewire {
namespace {

// cv::mean() of a cell is a double computed from the exact sum: rounded half up, it equals the cell's colour.
TEST(MosaicAndOpenCv, CellsEqualOpenCvMeans) {
    const Shape shape{1, 211, 307, 3};
    HostImage in(shape), out(shape);
    kit::fill(in.view(), kit::Fill::noise);
    const cv::Mat from(shape.height, shape.width, CV_8UC3, in.view().data());
    const cv::Mat to(shape.height, shape.width, CV_8UC3, out.view().data());
    for (const int cell : {2, 3, 16, 50, 130, 400}) {
        Mosaic mosaic({.cell_px = cell}, shape, kit::executor(Backend::cpu));
        mosaic.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        for (int y = 0; y < shape.height; y += cell)
            for (int x = 0; x < shape.width; x += cell) {
                const cv::Rect rectangle(x, y, std::min(cell, shape.width - x), std::min(cell, shape.height - y));
                const auto mean = cv::mean(from(rectangle));
                const cv::Scalar colour(std::floor(mean[0] + 0.5), std::floor(mean[1] + 0.5),
                                        std::floor(mean[2] + 0.5));
                ASSERT_EQ(cv::norm(to(rectangle), cv::Mat(rectangle.size(), CV_8UC3, colour), cv::NORM_INF), 0)
                    << "cell " << cell << " at " << x << ", " << y;
            }
    }
}

}  // namespace
}  // namespace framewire
