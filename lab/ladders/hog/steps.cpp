#include "ladders/hog/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace framewire::bench::hog_report {

double gamma_exponent(const Levels& levels) {
    std::uint64_t pixels = 0;
    for (const auto count : levels.counts) pixels += count;
    // Returns the lowest level of the bin in which the given percentage of the pixels is reached.
    const auto edge = [&](std::uint64_t share) {
        std::uint64_t so_far = 0;
        int bin = 0;
        for (; bin < histogram_bins - 1; ++bin) {
            so_far += levels.counts[static_cast<std::size_t>(bin)];
            if (so_far * 100 >= share * pixels) break;
        }
        return static_cast<double>(bin * levels_per_bin);
    };
    const double low = edge(5), median = edge(50), high = edge(95);
    double g = 1;
    if (median == low && high != median) g = 0.8;  // limit of the logarithm, to which equation 5 clamps
    if (median != low && high == median) g = 1.2;
    if (median != low && high != median) g = std::clamp(std::log((median - low) / (high - median)), 0.8, 1.2);
    return 1 / g;
}

std::size_t descriptor_values(const Shape& image) {
    return static_cast<std::size_t>(image.height / cell_px) * static_cast<std::size_t>(image.width / cell_px) *
           direction_bins;
}

void CpuPipeline::begin(HostView<const std::uint8_t> bgr) {
    bgr_ = bgr;
    const auto pixels = static_cast<std::size_t>(bgr.shape().height) * static_cast<std::size_t>(bgr.shape().width);
    gray_.resize(pixels);
    across_.resize(pixels);
    down_.resize(pixels);
    magnitudes_.resize(pixels);
    directions_.resize(pixels);
    descriptors_.assign(descriptor_values(bgr.shape()), 0);
}

void CpuPipeline::grayscale() {
    const auto* from = bgr_.data();
    for (auto& gray : gray_) {
        gray = static_cast<std::uint8_t>((3735 * from[0] + 19235 * from[1] + 9798 * from[2] + 16384) / 32768);
        from += 3;
    }
}

void CpuPipeline::apply_gamma() {
    Levels levels{};
    for (const auto gray : gray_) {
        ++levels.counts[gray / levels_per_bin];
        levels.most = std::max<std::uint32_t>(levels.most, gray);
    }
    if (levels.most == 0) return;
    const double exponent = gamma_exponent(levels), most = levels.most;
    for (auto& gray : gray_) gray = static_cast<std::uint8_t>(std::lround(most * std::pow(gray / most, exponent)));
}

int CpuPipeline::at(int x, int y) const {
    const auto& shape = bgr_.shape();
    x = std::clamp(x, 0, shape.width - 1);
    y = std::clamp(y, 0, shape.height - 1);
    return gray_[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) + static_cast<std::size_t>(x)];
}

void CpuPipeline::take_gradients() {
    constexpr int sobel_across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    constexpr int sobel_down[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
    std::size_t pixel = 0;
    for (int y = 0; y < bgr_.shape().height; ++y)
        for (int x = 0; x < bgr_.shape().width; ++x, ++pixel) {
            int across = 0, down = 0;
            for (int row = 0; row < 3; ++row)
                for (int column = 0; column < 3; ++column) {
                    const int level = at(x + column - 1, y + row - 1);
                    across += sobel_across[row][column] * level;
                    down += sobel_down[row][column] * level;
                }
            across_[pixel] = static_cast<std::int16_t>(across);
            down_[pixel] = static_cast<std::int16_t>(down);
        }
}

void CpuPipeline::take_magnitudes_and_directions() {
    for (std::size_t pixel = 0; pixel < gray_.size(); ++pixel) {
        const auto across = static_cast<float>(across_[pixel]), down = static_cast<float>(down_[pixel]);
        magnitudes_[pixel] = std::sqrt(across * across + down * down);
        float degrees = std::atan2(down, across) * (180 / std::numbers::pi_v<float>);
        if (degrees < 0) degrees += 180;
        directions_[pixel] = degrees >= 180 ? 0 : degrees;
    }
}

void CpuPipeline::vote() {
    const int width = bgr_.shape().width, rows = bgr_.shape().height / cell_px, columns = width / cell_px;
    for (int y = 0; y < rows * cell_px; ++y)
        for (int x = 0; x < columns * cell_px; ++x) {
            const auto pixel =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
            const float from_first =
                directions_[pixel] / bin_degrees - 0.5f;  // distance from the middle of the first bin, in bins
            const float lower = std::floor(from_first), share = from_first - lower;
            const int bin = (static_cast<int>(lower) + direction_bins) % direction_bins;
            auto* cell = descriptors_.data() + (y / cell_px * columns + x / cell_px) * direction_bins;
            cell[bin] += magnitudes_[pixel] * (1 - share);
            cell[(bin + 1) % direction_bins] += magnitudes_[pixel] * share;
        }
}

}  // namespace framewire::bench::hog_report
