#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/filters/gaussian_ref.hpp"
#include "framewire/filters/gray_ref.hpp"

#include <cstdint>
#include <cstdlib>

namespace framewire {

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

}  // namespace framewire
