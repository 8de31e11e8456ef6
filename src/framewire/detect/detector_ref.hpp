#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "framewire/filters/window_ref.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <variant>
#include <vector>

namespace framewire {

/// Reference implementation: the median of a mask of 0 and 255, pixel by pixel. Tests and benchmarks compare
/// with it. Both images have one channel and the same shape.
inline void mask_median_reference(int size_px, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int radius = size_px / 2;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                int set = 0;
                for (int v = y - radius; v <= y + radius; ++v)
                    for (int u = x - radius; u <= x + radius; ++u)
                        set +=
                            in.row(frame, std::clamp(v, 0, shape.height - 1))[std::clamp(u, 0, shape.width - 1)] != 0;
                out.row(frame, y)[x] = 2 * set > size_px * size_px ? 255 : 0;
            }
}

/// Reference implementation: finds all components of one frame by flood fill from each unlabelled pixel in
/// raster order. `labels` receives the frame's label image.
inline std::vector<Component> components_reference(HostBitMaskView<const std::uint32_t> mask, int frame,
                                                   int connectivity, std::vector<std::int32_t>& labels) {
    const int width = mask.shape().width, height = mask.shape().height;
    const auto at = [&](int x, int y) -> std::int32_t& {
        return labels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    };
    const auto is_set = [&](int x, int y) {
        return x >= 0 && x < width && y >= 0 && y < height && (mask.row(frame, y)[x / 32] >> (x % 32) & 1);
    };
    labels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
    std::vector<Component> components;
    std::vector<std::pair<int, int>> waiting;
    for (int first_y = 0; first_y < height; ++first_y)
        for (int first_x = 0; first_x < width; ++first_x) {
            if (!is_set(first_x, first_y) || at(first_x, first_y)) continue;
            const auto id = static_cast<std::int32_t>(components.size()) + 1;
            int min_x = first_x, max_x = first_x, max_y = first_y;
            Component component{id, 0, 0, 0, 0, 0, 0, 0};
            at(first_x, first_y) = id;
            waiting.assign(1, {first_x, first_y});
            while (!waiting.empty()) {
                const auto [x, y] = waiting.back();
                waiting.pop_back();
                min_x = std::min(min_x, x);
                max_x = std::max(max_x, x);
                max_y = std::max(max_y, y);
                ++component.area;
                component.sum_x += x;
                component.sum_y += y;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) {
                        if ((connectivity == 4 && dx != 0 && dy != 0) || !is_set(x + dx, y + dy) || at(x + dx, y + dy))
                            continue;
                        at(x + dx, y + dy) = id;
                        waiting.emplace_back(x + dx, y + dy);
                    }
            }
            component.x = min_x;
            component.y = first_y;
            component.width = max_x - min_x + 1;
            component.height = max_y - first_y + 1;
            components.push_back(component);
        }
    return components;
}

/// Reference implementation of the blurred gray images, step by step.
inline void blurred_gray_reference(int blur, HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) {
    HostImage gray(blurred.shape());
    gray_reference(GrayMethod::weighted, frames, gray.view());
    gaussian_reference({.size = blur, .rounding = GaussianRounding::opencv}, gray.view(), blurred);
}

/// Sets the bits where blurred gray images differ from the background by more than the threshold. There is one
/// background for all frames or one per frame.
inline void difference_reference(int threshold, HostView<const std::uint8_t> blurred,
                                 HostView<const std::uint8_t> background, HostBitMaskView<std::uint32_t> mask) {
    const auto& shape = blurred.shape();
    HostImage white(shape);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* one = blurred.row(frame, y);
            const auto* other = background.row(background.shape().frames == 1 ? 0 : frame, y);
            for (int x = 0; x < shape.width; ++x)
                white.view().row(frame, y)[x] = std::abs(one[x] - other[x]) > threshold ? 255 : 0;
        }
    pack_mask(white.view(), mask);
}

/// Reference implementation of BoxOverlay, pixel by pixel. `color` has one value per channel of the image. The first
/// `whole_frames` frames are hidden completely.
inline void box_overlay_reference(const BoxStyle& style, const std::vector<std::uint8_t>& color,
                                  const std::vector<std::vector<Component>>& boxes, HostView<const std::uint8_t> in,
                                  HostView<std::uint8_t> out, int whole_frames = 0) {
    const auto& shape = in.shape();
    const int cell = style.pixelate_px;
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    auto& result = out.row(frame, y)[x * shape.channels + channel];
                    result = in.row(frame, y)[x * shape.channels + channel];
                    const int left = cell ? x / cell * cell : 0, right = cell ? std::min(shape.width, left + cell) : 0;
                    const int top = cell ? y / cell * cell : 0, bottom = cell ? std::min(shape.height, top + cell) : 0;
                    auto of_frame = boxes[static_cast<std::size_t>(frame)];
                    if (cell && frame < whole_frames) of_frame = {{1, 0, 0, shape.width, shape.height, 0, 0, 0}};
                    for (const auto& box : of_frame) {
                        if (cell) {
                            if (box.x >= right || box.x + box.width <= left || box.y >= bottom ||
                                box.y + box.height <= top)
                                continue;
                            double sum = 0;
                            for (int cell_y = top; cell_y < bottom; ++cell_y)
                                for (int cell_x = left; cell_x < right; ++cell_x)
                                    sum += in.row(frame, cell_y)[cell_x * shape.channels + channel];
                            result = static_cast<std::uint8_t>(sum / ((right - left) * (bottom - top)) + 0.5);
                        } else {
                            const int to_side = std::min(x - box.x, box.x + box.width - 1 - x);
                            const int to_end = std::min(y - box.y, box.y + box.height - 1 - y);
                            if (to_side >= 0 && to_end >= 0 && std::min(to_side, to_end) < style.line_px)
                                result = color[static_cast<std::size_t>(channel)];
                        }
                    }
                }
}

/// Returns the objects in masks of 0 and 255 (moving-object report, steps 6 to 8, with a median if the
/// parameters say so). The capacity is ignored.
inline std::vector<std::vector<Component>> objects_of_masks_reference(const DetectorParameters& parameters,
                                                                      HostView<const std::uint8_t> dirty) {
    HostImage clean(dirty.shape());
    HostBitMask mask(dirty.shape());
    const auto cleaning = cleaning_of(parameters);
    if (const auto* window = std::get_if<MedianWindow>(&cleaning))
        mask_median_reference(window->size_px, dirty, clean.view());
    else
        morphology_reference(std::get<MorphologyOperation>(cleaning),
                             StructuringElement(parameters.shape, parameters.diameter_px), dirty, clean.view());
    pack_mask(std::as_const(clean).view(), mask.view());
    std::vector<std::vector<Component>> objects;
    std::vector<std::int32_t> labels;
    for (int frame = 0; frame < dirty.shape().frames; ++frame) {
        auto all = components_reference(std::as_const(mask).view(), frame, parameters.connectivity, labels);
        std::erase_if(
            all, [&](const auto& one) { return one.area < parameters.min_area || one.area > parameters.max_area; });
        objects.push_back(std::move(all));
    }
    return objects;
}

/// Reference implementation: the objects in each frame against a background picture, step by step (moving-object
/// report, steps 2 to 8). Tests and benchmarks compare with it. The capacity is ignored, and so is the
/// background, except for the morphology that suits it.
inline std::vector<std::vector<Component>> detector_reference(const DetectorParameters& parameters,
                                                              HostView<const std::uint8_t> frames,
                                                              HostView<const std::uint8_t> background) {
    const auto gray_shape = frames.shape().with_channels(1);
    HostImage blurred(gray_shape), still(gray_shape.with_frames(1)), dirty(gray_shape);
    HostBitMask mask(gray_shape);
    blurred_gray_reference(parameters.blur_px, frames, blurred.view());
    blurred_gray_reference(parameters.blur_px, background, still.view());
    difference_reference(parameters.threshold, std::as_const(blurred).view(), std::as_const(still).view(), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    return objects_of_masks_reference(parameters, std::as_const(dirty).view());
}

}  // namespace framewire
