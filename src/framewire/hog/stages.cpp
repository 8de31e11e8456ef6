#include "framewire/hog/stages.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/hog/hog.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <utility>

namespace framewire {
namespace {

// Rounds a value and clamps it to a byte.
std::uint8_t byte_of(double value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

// Returns the brightness of a value. The largest value is white; the square root keeps all but the strongest edges from
// being black.
double brightness_of(double value, double largest) { return 255 * std::sqrt(value / largest); }

// Returns an image whose bytes are value(index).
template <class Value>
HostImage painted(const Shape& shape, Value&& value) {
    HostImage image(shape);
    for (std::int64_t i = 0; i < shape.bytes(); ++i) image.view().data()[i] = value(static_cast<std::size_t>(i));
    return image;
}

// Returns B, G and R of a hue, given as a share of the colour circle.
std::array<double, 3> colour_of(double hue) {
    const auto ramp = [&](double middle) {
        const double away = std::abs(std::remainder(hue - middle, 1.0));
        return std::clamp(2 - 6 * away, 0.0, 1.0);
    };
    return {ramp(2.0 / 3), ramp(1.0 / 3), ramp(0)};
}

}  // namespace

std::vector<HogPicture> hog_step_pictures(HogSteps steps, bool signed_gradients) {
    const auto shape = steps.gray.shape();
    const auto largest = std::max(1.0f, *std::max_element(steps.magnitude.begin(), steps.magnitude.end()));
    const auto brightness = [&](std::size_t i) { return brightness_of(steps.magnitude[i], largest); };
    // Gradients are at most 1020, so an eighth of them fits around 128.
    const auto of_gradient = [](std::int16_t gradient) { return byte_of(128 + gradient / 8.0); };
    const double whole = signed_gradients ? 360 : 180;
    std::vector<HogPicture> pictures;
    pictures.push_back({hog_step_names[0], std::move(steps.gray)});
    pictures.push_back({hog_step_names[1], std::move(steps.gamma)});
    pictures.push_back({hog_step_names[2], painted(shape, [&](std::size_t i) { return of_gradient(steps.gx[i]); })});
    pictures.push_back({hog_step_names[3], painted(shape, [&](std::size_t i) { return of_gradient(steps.gy[i]); })});
    pictures.push_back({hog_step_names[4], painted(shape, [&](std::size_t i) { return byte_of(brightness(i)); })});
    pictures.push_back({hog_step_names[5], painted(shape.with_channels(3), [&](std::size_t i) {
                            return byte_of(brightness(i / 3) * colour_of(steps.direction[i / 3] / whole)[i % 3]);
                        })});
    return pictures;
}

// Strokes are as long as their cell. If strokes cross, the brighter one wins.
HostImage hog_strokes(HogView<const float, MemorySpace::host> cells, const HogParameters& parameters) {
    const auto& shape = cells.shape();
    constexpr int wanted_px = 16;
    const int room_px = max_side_px / std::max(shape.rows, shape.columns);
    const int side = std::max(parameters.cell, std::min(wanted_px, room_px));
    HostImage image({1, shape.rows * side, shape.columns * side, 1});
    const auto picture = image.view();
    std::memset(picture.data(), 0, static_cast<std::size_t>(image.shape().bytes()));
    const float largest =
        std::max(1e-6f, *std::max_element(cells.data(), cells.data() + shape.row_values() * shape.rows));
    // An even side has no middle pixel; the later one of the two is taken.
    const double centre = side / 2.0 + 1e-6;
    const double step_degrees = (parameters.signed_gradients ? 360.0 : 180.0) / parameters.bins;
    for (int bin = 0; bin < parameters.bins; ++bin) {
        // y points down in the image, as it does for the gradient.
        const double along = ((bin + 0.5) * step_degrees + 90) * std::numbers::pi / 180;
        const double dx = std::cos(along), dy = std::sin(along);
        const double reach = (side - 1) / 2.0 / std::max(std::abs(dx), std::abs(dy));
        for (int row = 0; row < shape.rows; ++row)
            for (int column = 0; column < shape.columns; ++column) {
                const auto value = cells.row(0, row)[column * shape.values + bin];
                const auto brightness = byte_of(brightness_of(value, largest));
                for (int i = 0; i < side; ++i) {
                    const double at = reach * (2.0 * i / (side - 1) - 1);
                    const auto x = std::clamp(static_cast<int>(centre + at * dx), 0, side - 1);
                    const auto y = std::clamp(static_cast<int>(centre + at * dy), 0, side - 1);
                    auto& pixel = picture.row(0, row * side + y)[column * side + x];
                    pixel = std::max(pixel, brightness);
                }
            }
    }
    return image;
}

// Allocates rows with the same padding as on the frame path, so that the same functions can be used.
HogSteps hog_steps(HostView<const std::uint8_t> frame, const HogParameters& parameters) {
    validate(frame, frame.shape().with_frames(1), "hog's image");
    const auto shape = frame.shape().with_channels(1);
    const auto pixels = static_cast<std::size_t>(shape.bytes());
    HogSteps steps{HostImage(shape), HostImage(shape), {}, {}, {}, {}};
    for (int y = 0; y < shape.height; ++y)
        gray_span(GrayMethod::weighted, frame.row(0, y), frame.shape().channels, shape.width, 1,
                  steps.gray.view().row(0, y));
    auto table = hog_fixed_table(parameters.gamma);
    if (parameters.gamma == HogGamma::report) {
        Histogram histogram;
        count_gray(steps.gray.view(), 0, shape.height, nullptr, 0, histogram);
        table = hog_gamma_table(hog_levels(histogram));
    }

    const int planes = hog_planes(parameters, frame.shape().channels);
    const auto stride = hog_cpu_row_stride_bytes(shape.width), plane_bytes = stride * shape.height;
    std::vector<std::uint8_t> padded(static_cast<std::size_t>(planes * plane_bytes));
    const auto row = [&](int y, int plane = 0) {
        return padded.data() + plane * plane_bytes + std::clamp(y, 0, shape.height - 1) * stride + hog_cpu_row_begin;
    };
    for (int y = 0; y < shape.height; ++y) {
        hog_gamma_row(steps.gray.view().row(0, y), shape.width, table.data(), row(y));
        std::copy_n(row(y), shape.width, steps.gamma.view().row(0, y));
        if (planes == 1) continue;
        std::uint8_t* const to[] = {row(y), row(y, 1), row(y, 2)};
        hog_split_row(frame.row(0, y), shape.width, to);
        for (auto* of_plane : to) hog_gamma_row(of_plane, shape.width, table.data(), of_plane);
    }

    constexpr std::size_t room = 64;  // values that a row's last vector writes after its end
    steps.gx.resize(pixels + room);
    steps.gy.resize(pixels + room);
    steps.magnitude.resize(pixels + room);
    steps.direction.resize(pixels + room);
    // With one bin per degree, positions are degrees.
    const auto ring = hog_ring(parameters.signed_gradients ? 360 : 180, parameters.signed_gradients);
    for (int y = 0; y < shape.height; ++y) {
        const auto at = std::int64_t{y} * shape.width;
        hog_gradient_row(
            {row(y - 1), row(y), row(y + 1), planes, plane_bytes}, shape.width, parameters.gradient, ring,
            {steps.gx.data() + at, steps.gy.data() + at, steps.magnitude.data() + at, steps.direction.data() + at});
    }
    steps.gx.resize(pixels);
    steps.gy.resize(pixels);
    steps.magnitude.resize(pixels);
    steps.direction.resize(pixels);
    return steps;
}

}  // namespace framewire
