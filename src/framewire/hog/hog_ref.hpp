#pragma once

#include "framewire/filters/pointwise_ref.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/pyramid.hpp"
#include "framewire/hog/window_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace framewire {

/// Reference implementation for tests: the steps of one frame in double precision, formula by formula. Rows are dense.
struct HogReference {
    std::vector<int> gray, gamma, gx, gy;
    /// Direction in degrees, at least 0 and below 180, or below 360 for signed gradients.
    std::vector<double> magnitude, direction;
    std::vector<double> descriptors;  ///< descriptors in the order of HogView
};

inline HogReference hog_reference(const HogParameters& p, HostView<const std::uint8_t> frame) {
    const int height = frame.shape().height, width = frame.shape().width;
    const auto at = [&](int y, int x) {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    };
    const auto pixels = at(height, 0);
    HogReference r;

    HostImage gray_image(frame.shape().with_channels(1));
    gray_reference(GrayMethod::weighted, frame, gray_image.view());
    r.gray.assign(gray_image.view().data(), gray_image.view().data() + pixels);

    // Quantiles of the histogram, and the report's gamma (HOG report, section 4.1).
    std::vector<double> cumulative(64, 0);
    for (const int level : r.gray)
        for (int bin = level / 4; bin < 64; ++bin) ++cumulative[static_cast<std::size_t>(bin)];
    const auto edge = [&](double share) {
        int bin = 0;
        while (cumulative[static_cast<std::size_t>(bin)] * 100 < share * static_cast<double>(pixels)) ++bin;
        return 4.0 * bin;
    };
    const double low = edge(5), mid = edge(50), high = edge(95);
    double g = 1;
    if (mid == low && high != mid) g = 0.8;
    if (mid != low && high == mid) g = 1.2;
    if (mid != low && high != mid) g = std::clamp(std::log((mid - low) / (high - mid)), 0.8, 1.2);
    const double largest = *std::max_element(r.gray.begin(), r.gray.end());
    const auto gamma = [&](int level) {
        if (p.gamma == HogGamma::none) return level;
        if (p.gamma == HogGamma::sqrt) return static_cast<int>(std::lround(255 * std::sqrt(level / 255.0)));
        return largest == 0 ? 0 : static_cast<int>(std::lround(largest * std::pow(level / largest, 1 / g)));
    };
    for (const int level : r.gray) r.gamma.push_back(gamma(level));

    // Channel -1 is gray.
    const auto pixel = [&](int y, int x, int channel) {
        y = std::clamp(y, 0, height - 1);
        x = std::clamp(x, 0, width - 1);
        return channel < 0 ? r.gamma[at(y, x)] : gamma(frame.row(0, y)[x * frame.shape().channels + channel]);
    };
    // In the order in which they win if they are equally long.
    const bool colour = p.colour == HogColour::largest && frame.shape().channels == 3;
    const std::vector<int> channels = colour ? std::vector{2, 1, 0} : std::vector{-1};
    const double whole = p.signed_gradients ? 360 : 180;
    const bool central = p.gradient == HogGradient::central;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int gx = 0, gy = 0;
            for (const int channel : channels) {
                const auto level = [&](int dy, int dx) { return pixel(y + dy, x + dx, channel); };
                int right = 0, down = 0;
                for (int i = -1; i <= 1; ++i) {
                    if (central && i != 0) continue;
                    const int weight = central ? 1 : 2 - std::abs(i);
                    right += weight * (level(i, 1) - level(i, -1));
                    down += weight * (level(1, i) - level(-1, i));
                }
                if (right * right + down * down <= gx * gx + gy * gy) continue;
                gx = right;
                gy = down;
            }
            r.gx.push_back(gx);
            r.gy.push_back(gy);
            r.magnitude.push_back(std::sqrt(static_cast<double>(gx * gx + gy * gy)));
            double degrees = std::atan2(gy, gx) * 180 / std::numbers::pi;
            if (degrees < 0) degrees += whole;
            if (degrees >= whole) degrees -= whole;
            r.direction.push_back(degrees);
        }

    const int rows = height / p.cell, columns = width / p.cell;
    // Adds the vote of a pixel, times `weight`, to the bins that start at histogram[first].
    const auto vote = [&](int y, int x, double weight, std::vector<double>& histogram, std::size_t first) {
        // The direction in bins, counted from the centre of bin 0.
        const double from_first = r.direction[at(y, x)] * p.bins / whole - 0.5;
        const double lower = std::floor(from_first), share = from_first - lower;
        const auto bin = [&](int number) { return first + static_cast<std::size_t>((number + p.bins) % p.bins); };
        histogram[bin(static_cast<int>(lower))] += weight * r.magnitude[at(y, x)] * (1 - share);
        histogram[bin(static_cast<int>(lower) + 1)] += weight * r.magnitude[at(y, x)] * share;
    };
    // Adds the votes of the pixels of tall x wide cells, starting at cell (top, left), to the histograms of these
    // cells. With `bell`, pixels count less the further they are from the middle, or from half a pixel beside it.
    const auto spread = [&](int top, int left, int tall, int wide, bool bell, std::vector<double>& histogram) {
        for (int y = 0; y < tall * p.cell; ++y)
            for (int x = 0; x < wide * p.cell; ++x) {
                // The position in cells, counted from the first centre.
                const double down = (y + 0.5) / p.cell - 0.5, right = (x + 0.5) / p.cell - 0.5;
                const double half = p.votes == HogVotes::opencv ? 0 : 0.5;
                const double from_middle = std::hypot(y + half - tall * p.cell / 2.0, x + half - wide * p.cell / 2.0);
                const double sigma = tall * p.cell / 4.0;
                const double weight = bell ? std::exp(-from_middle * from_middle / (2 * sigma * sigma)) : 1;
                for (const int row : {static_cast<int>(std::floor(down)), static_cast<int>(std::floor(down)) + 1})
                    for (const int column :
                         {static_cast<int>(std::floor(right)), static_cast<int>(std::floor(right)) + 1})
                        if (row >= 0 && row < tall && column >= 0 && column < wide)
                            vote(top * p.cell + y, left * p.cell + x,
                                 weight * (1 - std::abs(down - row)) * (1 - std::abs(right - column)), histogram,
                                 static_cast<std::size_t>((row * wide + column) * p.bins));
            }
    };
    std::vector<double> cells(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns * p.bins), 0);
    const auto cell_at = [&](int y, int x) {
        return static_cast<std::size_t>(y * columns + x) * static_cast<std::size_t>(p.bins);
    };
    const bool own_histograms = central && p.votes != HogVotes::cells && p.norm != HogNorm::none;
    if (central && !own_histograms) spread(0, 0, rows, columns, false, cells);
    for (int y = 0; y < rows * p.cell && !central; ++y)
        for (int x = 0; x < columns * p.cell; ++x) vote(y, x, 1, cells, cell_at(y / p.cell, x / p.cell));
    if (p.norm == HogNorm::none) {
        r.descriptors = cells;
        return r;
    }
    for (int y = 0; y + p.block <= rows; ++y)
        for (int x = 0; x + p.block <= columns; ++x) {
            std::vector<double> block;
            if (own_histograms) {
                block.resize(static_cast<std::size_t>(p.block * p.block * p.bins), 0);
                spread(y, x, p.block, p.block, true, block);
            }
            for (int row = y; row < y + p.block && !own_histograms; ++row)
                block.insert(block.end(), cells.begin() + static_cast<std::ptrdiff_t>(cell_at(row, x)),
                             cells.begin() + static_cast<std::ptrdiff_t>(cell_at(row, x + p.block)));
            // OpenCV adds a tenth of the number of values, in units of its gradients, and then a thousandth.
            const bool opencv = p.norm == HogNorm::opencv;
            const double unit = p.gamma == HogGamma::sqrt ? std::sqrt(255.0) : 1;
            const auto divide = [&](double added) {
                double sum = opencv ? 0 : 1e-10;
                for (const double value : block) sum += value * value;
                for (double& value : block) value /= std::sqrt(sum) + (opencv ? added : 0);
            };
            divide(0.1 * p.block * p.block * p.bins * unit);
            if (p.norm != HogNorm::l2) {
                for (double& value : block) value = std::min(value, 0.2);
                divide(1e-3);
            }
            r.descriptors.insert(r.descriptors.end(), block.begin(), block.end());
        }
    return r;
}

/// Computes the reference of one level for tests, pixel by pixel: of the gray frame, or of one channel of it. If a
/// position is exactly between two multiples of 1/128 pixel, the result is the same only if `scale` is a multiple of
/// 1/65536.
inline HostImage pyramid_level_reference(double scale, HostView<const std::uint8_t> frame, int channel = -1) {
    HostImage octave(frame.shape().with_channels(1));
    gray_reference(GrayMethod::weighted, frame, octave.view());
    for (int y = 0; y < frame.shape().height && channel >= 0; ++y)
        for (int x = 0; x < frame.shape().width; ++x)
            octave.view().row(0, y)[x] = frame.row(0, y)[x * frame.shape().channels + channel];
    double rest = scale;
    for (; rest >= 2; rest /= 2) {
        HostImage half({1, octave.shape().height / 2, octave.shape().width / 2, 1});
        for (int y = 0; y < half.shape().height; ++y)
            for (int x = 0; x < half.shape().width; ++x) {
                const auto *upper = octave.view().row(0, 2 * y) + 2 * x,
                           *lower = octave.view().row(0, 2 * y + 1) + 2 * x;
                half.view().row(0, y)[x] =
                    static_cast<std::uint8_t>((upper[0] + upper[1] + lower[0] + lower[1] + 2) / 4);
            }
        octave = std::move(half);
    }
    const int height = octave.shape().height, width = octave.shape().width;
    // Returns a position in 1/128 of a pixel.
    const auto place = [&](int i, int pixels) {
        return static_cast<int>(std::floor(std::clamp((i + 0.5) * rest - 0.5, 0.0, pixels - 1.0) * 128 + 0.5));
    };
    HostImage level(
        {1, static_cast<int>(frame.shape().height / scale), static_cast<int>(frame.shape().width / scale), 1});
    for (int y = 0; y < level.shape().height; ++y)
        for (int x = 0; x < level.shape().width; ++x) {
            const int down = place(y, height), across = place(x, width);
            const auto pixel = [&](int dy, int dx) {
                return int{octave.view().row(
                    0, std::min(down / 128 + dy, height - 1))[std::min(across / 128 + dx, width - 1)]};
            };
            const auto between = [&](int dx) {
                return pixel(0, dx) * (128 - down % 128) + pixel(1, dx) * (down % 128);
            };
            level.view().row(0, y)[x] = static_cast<std::uint8_t>(
                (between(0) * (128 - across % 128) + between(1) * (across % 128) + 8192) / 16384);
        }
    return level;
}

/// Computes the reference scores of all windows for tests, window by window in double precision.
inline std::vector<double> window_scores_reference(const WindowModel& model,
                                                   HogView<const float, MemorySpace::host> descriptors) {
    const auto window = window_shape(model);
    std::vector<double> scores;
    for (int y = 0; y + window.rows <= descriptors.shape().rows; ++y)
        for (int x = 0; x + window.columns <= descriptors.shape().columns; ++x) {
            double score = model.bias;
            std::size_t weight = 0;
            for (int row = 0; row < window.rows; ++row)
                for (int i = 0; i < window.columns * window.values; ++i)
                    score += static_cast<double>(model.weights[weight++]) *
                             static_cast<double>(descriptors.row(0, y + row)[x * window.values + i]);
            scores.push_back(score);
        }
    return scores;
}

}  // namespace framewire
