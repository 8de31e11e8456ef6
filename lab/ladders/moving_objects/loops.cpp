#include "ladders/moving_objects/loops.hpp"

#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/morphology.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdlib>

namespace framewire::bench::moving_objects {
namespace moving_objects_loops {

std::size_t index_of(FrameSize size, int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x);
}

bool is_inside(FrameSize size, int x, int y) { return x >= 0 && x < size.width && y >= 0 && y < size.height; }

template <class Body>
void for_cells(Body&& body) {
    for (int row = 0; row < matrix_px; ++row)
        for (int column = 0; column < matrix_px; ++column)
            body(static_cast<std::size_t>(row * matrix_px + column), column - matrix_reach_px, row - matrix_reach_px);
}

template <class Join>
void morphology(FrameSize size, const DiscMatrix& disc, const std::uint8_t* in, std::uint8_t* out, std::uint8_t neutral,
                Join&& join) {
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            auto value = neutral;
            for_cells([&](std::size_t cell, int dx, int dy) {
                if (disc[cell] && is_inside(size, x + dx, y + dy))
                    value = join(value, in[index_of(size, x + dx, y + dy)]);
            });
            out[index_of(size, x, y)] = value;
        }
}

std::int32_t root_of(const std::int32_t* labels, std::int32_t index) {
    while (labels[index] - 1 != index) index = labels[index] - 1;
    return index;
}

}  // namespace moving_objects_loops

std::array<int, matrix_px> blur_taps() {
    const auto weights = gaussian_weights(matrix_px, 0, GaussianRounding::opencv);
    std::array<int, matrix_px> taps{};
    for (int tap = 0; tap < weights.taps; ++tap) {
        const int mirrored = weights.taps - 1 - tap;
        taps[static_cast<std::size_t>(matrix_reach_px - weights.reach.before + tap)] =
            weights.folded[std::min(tap, mirrored)] * (tap == mirrored ? 2 : 1) / gaussian_short_unit;
    }
    return taps;
}

BlurMatrix blur_matrix() {
    const auto taps = blur_taps();
    BlurMatrix matrix{};
    for (std::size_t cell = 0; cell < matrix.size(); ++cell)
        matrix[cell] = static_cast<float>(taps[cell / matrix_px] * taps[cell % matrix_px]) / 65536.0f;
    return matrix;
}

DiscMatrix disc_matrix() {
    const StructuringElement element(ElementShape::disc, matrix_px);
    DiscMatrix matrix{};
    moving_objects_loops::for_cells(
        [&](std::size_t cell, int dx, int dy) { matrix[cell] = std::abs(dx) <= element.reach(dy); });
    return matrix;
}

void grayscale(FrameSize size, const std::uint8_t* bgr, std::uint8_t* gray) {
    for (std::size_t pixel = 0; pixel < size.pixels(); ++pixel) {
        const auto* from = bgr + 3 * pixel;
        gray[pixel] = static_cast<std::uint8_t>((3735 * from[0] + 19235 * from[1] + 9798 * from[2] + 16384) / 32768);
    }
}

void blur(FrameSize size, const BlurMatrix& matrix, const std::uint8_t* in, std::uint8_t* out) {
    using namespace moving_objects_loops;
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            float sum = 0;
            for_cells([&](std::size_t cell, int dx, int dy) {
                sum += matrix[cell] * in[index_of(size, border_index(x + dx, size.width, Border::reflect101),
                                                  border_index(y + dy, size.height, Border::reflect101))];
            });
            out[index_of(size, x, y)] = static_cast<std::uint8_t>(sum + 0.5f);
        }
}

void difference(FrameSize size, const std::uint8_t* one, const std::uint8_t* other, std::uint8_t* out) {
    for (std::size_t pixel = 0; pixel < size.pixels(); ++pixel)
        out[pixel] = static_cast<std::uint8_t>(std::abs(one[pixel] - other[pixel]));
}

void apply_threshold(FrameSize size, std::uint8_t* image) {
    for (std::size_t pixel = 0; pixel < size.pixels(); ++pixel)
        image[pixel] = image[pixel] > foreground_threshold ? 255 : 0;
}

void dilate(FrameSize size, const DiscMatrix& disc, const std::uint8_t* in, std::uint8_t* out) {
    moving_objects_loops::morphology(size, disc, in, out, 0,
                                     [](std::uint8_t one, std::uint8_t other) { return std::max(one, other); });
}

void erode(FrameSize size, const DiscMatrix& disc, const std::uint8_t* in, std::uint8_t* out) {
    moving_objects_loops::morphology(size, disc, in, out, 255,
                                     [](std::uint8_t one, std::uint8_t other) { return std::min(one, other); });
}

void label(FrameSize size, const std::uint8_t* mask, std::int32_t* labels) {
    using namespace moving_objects_loops;
    const auto pixels = static_cast<std::int32_t>(size.pixels());
    for (std::int32_t index = 0; index < pixels; ++index) labels[index] = mask[index] ? index + 1 : 0;
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            const auto index = static_cast<std::int32_t>(index_of(size, x, y));
            if (!mask[index]) continue;
            const int neighbours[][2] = {{x - 1, y - 1}, {x, y - 1}, {x + 1, y - 1}, {x - 1, y}};
            for (const auto& [near_x, near_y] : neighbours) {
                if (!is_inside(size, near_x, near_y) || !mask[index_of(size, near_x, near_y)]) continue;
                const auto one = root_of(labels, index);
                const auto other = root_of(labels, static_cast<std::int32_t>(index_of(size, near_x, near_y)));
                labels[std::max(one, other)] = std::min(one, other) + 1;
            }
        }
    for (std::int32_t index = 0; index < pixels; ++index)
        if (mask[index]) labels[index] = root_of(labels, index) + 1;
}

std::vector<Component> components_of(FrameSize size, const std::int32_t* labels) {
    using namespace moving_objects_loops;
    std::vector<std::int32_t> number_of_root(size.pixels());  // number of a root's component, at the root's index
    std::vector<Component> components;
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            const auto label = labels[index_of(size, x, y)];
            if (!label) continue;
            auto& number = number_of_root[static_cast<std::size_t>(label - 1)];
            if (!number) {  // the root precedes all other pixels of its component
                number = static_cast<std::int32_t>(components.size()) + 1;
                components.push_back({number, x, y, 1, 1, 0, 0, 0});
            }
            auto& component = components[static_cast<std::size_t>(number - 1)];
            const int right = std::max(component.x + component.width, x + 1);
            component.x = std::min(component.x, x);
            component.width = right - component.x;
            component.height = y - component.y + 1;
            ++component.area;
            component.sum_x += x;
            component.sum_y += y;
        }
    return components;
}

}  // namespace framewire::bench::moving_objects
