#include "framewire/filters/scale_axis.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

// Weights for resizing: the exact weights of the kernels, and rounding them to fixed point. scale_axis.hpp has the
// rules.

namespace framewire {
namespace {

// Returns half the width of a kernel, in pixels.
double reach_of(ScaleMethod method) {
    return method == ScaleMethod::bilinear ? 1 : method == ScaleMethod::bicubic ? 2 : 3;
}

// The kernels, as functions of the distance from their center.
double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

// Computes Keys's piecewise cubic by Horner's scheme.
double cubic(double x) {
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

// Returns sin(pi x) / (pi x).
double sinc(double x) {
    x *= std::numbers::pi;
    return x == 0 ? 1 : std::sin(x) / x;
}

// Windows a sinc by a sinc three times as wide.
double lanczos(double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }

// Returns the value of a method's kernel at distance x.
double kernel(ScaleMethod method, double x) {
    switch (method) {
        case ScaleMethod::bilinear: return triangle(x);
        case ScaleMethod::bicubic: return cubic(x);
        default: return lanczos(x);
    }
}

// Returns the weights of ScaleMethod::area: the share of each pixel that lies in the interval that pixel `index`
// covers. Computed exactly, in units of 1 / (4 * ratio_to) pixels.
ExactTaps covered(const ScaleGrid& grid, int index) {
    const std::int64_t unit = std::int64_t{4} * grid.ratio_to, covers = std::int64_t{4} * grid.ratio_from;
    const auto begin =
        (std::int64_t{4} * index + grid.shift_to) * grid.ratio_from - std::int64_t{grid.shift_from} * grid.ratio_to;
    const auto end = begin + covers;
    const auto pixel_at = [&](std::int64_t at) {
        return static_cast<int>(std::clamp<std::int64_t>(at / unit, 0, grid.from - 1));
    };
    ExactTaps taps{pixel_at(begin), {}};
    for (std::int64_t pixel = taps.first, last = pixel_at(end - 1); pixel <= last; ++pixel) {
        // Beyond the image, the nearest pixel of the image counts.
        const auto from = pixel == 0 ? begin : std::max(begin, pixel * unit);
        const auto to = pixel == grid.from - 1 ? end : std::min(end, (pixel + 1) * unit);
        taps.weights.push_back(static_cast<double>(to - from) / static_cast<double>(covers));
    }
    return taps;
}

}  // namespace

ExactTaps exact_scale_taps(ScaleMethod method, const ScaleGrid& grid, int index) {
    // Sample the kernel at all pixels that it reaches, and normalise. The weights of pixels outside the image are added
    // to the nearest pixel inside.
    if (method == ScaleMethod::area) return covered(grid, index);
    const double scale = static_cast<double>(grid.ratio_from) / grid.ratio_to, width = std::max(scale, 1.0);
    const double reach = reach_of(method) * width;
    const double middle = (index + 0.5 + grid.shift_to / 4.0) * scale - grid.shift_from / 4.0 - 0.5;
    const int begin = static_cast<int>(std::ceil(middle - reach)), end = static_cast<int>(std::floor(middle + reach));
    const int first = std::clamp(begin, 0, grid.from - 1), last = std::clamp(end, 0, grid.from - 1);
    ExactTaps taps{first, std::vector<double>(static_cast<std::size_t>(last - first + 1))};
    double sum = 0;
    for (int pixel = begin; pixel <= end; ++pixel) {
        const double weight = kernel(method, (pixel - middle) / width);
        taps.weights[static_cast<std::size_t>(std::clamp(pixel, first, last) - first)] += weight;
        sum += weight;
    }
    for (auto& weight : taps.weights) weight /= sum;
    return taps;
}

AxisTaps scale_taps(ScaleMethod method, const ScaleGrid& grid) {
    return {grid.from, grid.to, [=](int index) { return exact_scale_taps(method, grid, index); }};
}

// Rounds all pixels' weights and stores them with a common stride.
ScaleAxis scale_axis(const AxisTaps& all_exact, int multiple) {
    struct Taps {
        int first;
        std::vector<std::int16_t> weights;
    };
    ScaleAxis axis{.from = all_exact.from, .to = all_exact.to};
    std::vector<Taps> all;
    for (int index = 0; index < axis.to; ++index) {
        // Round the running sum instead of single weights, which bounds the error of every partial sum and makes the
        // total exact. Drop zeros at both ends.
        const auto exact = all_exact.of(index);
        Taps taps{exact.first, {}};
        double exact_so_far = 0;
        int so_far = 0;
        for (const double weight : exact.weights) {
            exact_so_far += weight;
            const auto rounded = static_cast<int>(std::lround(exact_so_far * (1 << scale_weight_bits)));
            taps.weights.push_back(static_cast<std::int16_t>(rounded - so_far));
            so_far = rounded;
        }
        while (taps.weights.back() == 0) taps.weights.pop_back();
        const auto zeros =
            std::find_if(taps.weights.begin(), taps.weights.end(), [](int weight) { return weight != 0; });
        taps.first += static_cast<int>(zeros - taps.weights.begin());
        taps.weights.erase(taps.weights.begin(), zeros);
        axis.taps = std::max(axis.taps, static_cast<int>(taps.weights.size()));
        all.push_back(std::move(taps));
    }
    axis.stride = (axis.taps + multiple - 1) / multiple * multiple;
    for (const auto& taps : all) {
        // Move left until all taps, including padding, lie inside the image.
        const int first = std::min(taps.first, std::max(axis.from - axis.stride, 0));
        axis.first.push_back(first);
        auto begin = axis.weights.insert(axis.weights.end(), static_cast<std::size_t>(axis.stride), 0);
        std::copy(taps.weights.begin(), taps.weights.end(), begin + (taps.first - first));
    }
    return axis;
}

}  // namespace framewire
