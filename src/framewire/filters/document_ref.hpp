#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/binarize_ref.hpp"
#include "framewire/filters/document.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "framewire/filters/window_ref.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire {

/// Returns the bilinear interpolation of `blocks` at a pixel, in floating point, which is exact here.
inline int paper_at(HostView<const std::uint8_t> blocks, int frame, int y, int x) {
    const auto& shape = blocks.shape();
    const double v = (y + 0.5) / 4 - 0.5, u = (x + 0.5) / 4 - 0.5;
    const int top = static_cast<int>(std::floor(v)), left = static_cast<int>(std::floor(u));
    double sum = 0;
    for (int row = top; row <= top + 1; ++row)
        for (int column = left; column <= left + 1; ++column)
            sum += (1 - std::abs(v - row)) * (1 - std::abs(u - column)) *
                   blocks.row(frame, std::clamp(row, 0, shape.height - 1))[std::clamp(column, 0, shape.width - 1)];
    return static_cast<int>(std::floor(sum + 0.5));
}

/// Reference for specks: tries every square at every position, also partly outside the image, where all is white.
/// `mask` has one channel.
inline void specks_reference(HostView<const std::uint8_t> mask, HostView<std::uint8_t> out) {
    const auto& shape = mask.shape();
    for (int frame = 0; frame < shape.frames; ++frame) {
        const auto is_black = [&](int y, int x) {
            return y >= 0 && y < shape.height && x >= 0 && x < shape.width && mask.row(frame, y)[x] == 0;
        };
        for (int y = 0; y < shape.height; ++y) std::copy_n(mask.row(frame, y), shape.width, out.row(frame, y));
        for (const int side : {3, 5})
            for (int top = 1 - side; top < shape.height; ++top)
                for (int left = 1 - side; left < shape.width; ++left) {
                    bool white_ring = true;
                    for (int i = -1; i <= side; ++i)
                        white_ring = white_ring && !is_black(top - 1, left + i) && !is_black(top + side, left + i) &&
                                     !is_black(top + i, left - 1) && !is_black(top + i, left + side);
                    if (!white_ring) continue;
                    for (int y = std::max(top, 0); y < std::min(top + side, shape.height); ++y)
                        for (int x = std::max(left, 0); x < std::min(left + side, shape.width); ++x)
                            out.row(frame, y)[x] = 255;
                }
    }
}

/// Reference for Document in tests and benchmarks: one step after the other.
inline void document_reference(const DocumentParameters& parameters, HostView<const std::uint8_t> in,
                               HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const auto one = shape.with_channels(1);
    HostImage gray(one), left(one);
    gray_reference(GrayMethod::weighted, in, gray.view());
    HostImage blocks(Shape{shape.frames, (shape.height + 3) / 4, (shape.width + 3) / 4, 1});
    const auto blocks_shape = blocks.view().shape();
    HostImage closed(blocks_shape), paper(blocks_shape);
    std::fill_n(blocks.view().data(), blocks_shape.bytes(), std::uint8_t{0});
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                auto& most = blocks.view().row(frame, y / 4)[x / 4];
                most = std::max(most, gray.view().row(frame, y)[x]);
            }
    const auto odd = [](int size) { return size < 1 ? 1 : size % 2 == 1 ? size : size - 1; };
    morphology_reference(MorphologyOperation::close, {ElementShape::rect, odd(parameters.window / 8)}, blocks.view(),
                         closed.view());
    median_reference({.size = odd(parameters.window / 4), .border = Border::replicate}, closed.view(), paper.view());
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const int value = gray.view().row(frame, y)[x], light = paper_at(paper.view(), frame, y, x);
                const double darker = std::max(light - value, 0), scale = std::max(light, 64);
                left.view().row(frame, y)[x] =
                    static_cast<std::uint8_t>(std::floor(255 * (1 - darker / scale) + 0.5 + 1e-9));
            }
    HostImage mask(one), white(one);
    binarize_reference(ink_threshold_reference, left.view(), mask.view());
    specks_reference(mask.view(), white.view());
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x)
                for (int channel = 0; channel < shape.channels; ++channel)
                    out.row(frame, y)[x * shape.channels + channel] = white.view().row(frame, y)[x];
}

}  // namespace framewire
