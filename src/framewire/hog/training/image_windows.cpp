#include "framewire/hog/training/image_windows.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {
namespace {

void check(const WindowModel& window, const Shape& image) {
    if (image.width < window.width_px || image.height < window.height_px)
        fail(ErrorCode::usage, "an image of {}x{} pixels is smaller than the window, {}x{}", image.width, image.height,
             window.width_px, window.height_px);
}

// Copies a window's part of an image's descriptors, starting at block (`row`, `column`).
void copy_window(const float* descriptors, const HogShape& image, const HogShape& window, std::int64_t row,
                 std::int64_t column, std::span<float> values) {
    auto* to = values.data();
    for (int y = 0; y < window.rows; ++y) {
        const auto* from = descriptors + (row + y) * image.row_values() + column * image.values;
        to = std::copy(from, from + window.row_values(), to);
    }
}

// Returns the image mirrored from left to right.
HostImage mirrored_copy(HostView<const std::uint8_t> image) {
    HostImage mirrored(image.shape());
    const int width = image.shape().width, channels = image.shape().channels;
    for (int y = 0; y < image.shape().height; ++y)
        for (int x = 0; x < width; ++x)
            std::copy_n(image.row(0, y) + std::ptrdiff_t{x} * channels, channels,
                        mirrored.view().row(0, y) + std::ptrdiff_t{width - 1 - x} * channels);
    return mirrored;
}

// Returns the scales of all levels that the window fits into, starting with the image's own size.
std::vector<double> scales_of(const WindowModel& window, double step, const Shape& image) {
    check(window, image);
    std::vector<double> scales;
    for (double scale = 1; image.width / scale >= window.width_px && image.height / scale >= window.height_px;
         scale *= step)
        scales.push_back(scale);
    return scales;
}

}  // namespace

// The descriptors of all levels are kept for copy() and score().
ImageWindows::ImageWindows(const WindowModel& window, double scale_step, HostView<const std::uint8_t> image,
                           Executor& executor)
    : window_(window_shape(window)) {
    GrayPyramid pyramid(scales_of(window, scale_step, image.shape()), image.shape(), executor);
    pyramid.run(image);
    for (int number = 0; number < pyramid.levels(); ++number) {
        Hog hog(window.hog, pyramid.level_shape(number), executor);
        const auto shape = hog.output_shape();
        Level level{shape,
                    {shape.rows - window_.rows + 1, shape.columns - window_.columns + 1},
                    HostBuffer(shape.bytes() + window_scores_margin_bytes)};
        hog.run(pyramid.level<MemorySpace::host>(number), {level.descriptors.as<float>(), shape});
        // The margin that scores read must be finite.
        std::memset(level.descriptors.data() + shape.bytes(), 0, window_scores_margin_bytes);
        levels_.push_back(std::move(level));
    }
}

std::int64_t ImageWindows::windows() const {
    std::int64_t count = 0;
    for (const auto& level : levels_) count += level.grid.count();
    return count;
}

void ImageWindows::copy(WindowPlace place, std::span<float> values) const {
    const auto& level = levels_[static_cast<std::size_t>(place.level)];
    copy_window(level.descriptors.as<float>(), level.shape, window_, place.window / level.grid.columns,
                place.window % level.grid.columns, values);
}

std::vector<float> ImageWindows::score(int level, const WindowScores& scores) const {
    const auto& [shape, grid, descriptors] = levels_[static_cast<std::size_t>(level)];
    std::vector<float> of_windows(static_cast<std::size_t>(grid.count()));
    scores.run(HogView<const float, MemorySpace::host>(descriptors.as<float>(), shape), of_windows.data());
    return of_windows;
}

void centre_descriptor(const WindowModel& window, HostView<const std::uint8_t> image, bool mirrored, Executor& executor,
                       std::span<float> values) {
    check(window, image.shape());
    HostImage copy;
    if (mirrored) {
        copy = mirrored_copy(image);
        image = copy.view();
    }
    // Excludes the pixels above and to the left of the window that do not fill a whole cell.
    const int cell = window.hog.cell;
    const int left = (image.shape().width - window.width_px) / 2, top = (image.shape().height - window.height_px) / 2;
    auto shape = image.shape();
    shape.width -= left % cell;
    shape.height -= top % cell;
    const HostView<const std::uint8_t> whole_cells(
        image.row(0, top % cell) + std::ptrdiff_t{left % cell} * shape.channels, shape, image.row_stride_bytes(),
        image.frame_stride_bytes());
    Hog hog(window.hog, shape, executor);
    HostBuffer descriptors(hog.output_shape().bytes());
    hog.run(whole_cells, {descriptors.as<float>(), hog.output_shape()});
    copy_window(descriptors.as<float>(), hog.output_shape(), window_shape(window), top / cell, left / cell, values);
}

}  // namespace framewire
