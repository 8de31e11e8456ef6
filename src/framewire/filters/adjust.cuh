#pragma once

#include "framewire/filters/adjust.hpp"
#include "framewire/filters/gray_input.hpp"

#include <cstdint>

namespace framewire {

/// adjust_pixel() on the GPU. The offset is folded into the rounding term: ((v * slope + 2^8) >> 9) + offset = (v *
/// slope + 2^8 + 2^9 * offset) >> 9.
class AdjustOnDevice {
public:
    /// Prepares the terms for the GPU.
    explicit AdjustOnDevice(const AdjustTerms& terms)
        : slope_(terms.slope),
          rounding_((1 << (adjust_slope_shift - 1)) + terms.offset * (1 << adjust_slope_shift)),
          saturation_(terms.saturation),
          weights_(split(gray_weights(GrayMethod::weighted))) {}
    /// Takes the terms from an operation of adjust_op().
    explicit AdjustOnDevice(const PointwiseOp& op) : AdjustOnDevice(adjust_terms_of(op)) {}

    /// As adjust_pixel(); clamping to bytes happens in the packing instruction.
    __device__ Pixel operator()(Pixel pixel) const {
        auto levels = packed(level(pixel & 255), level(pixel >> 8 & 255), level(pixel >> 16 & 255));
        if (saturation_ == neutral_saturation) return levels;
        const auto gray = static_cast<int>(gray_of(levels, weights_));
        const auto saturated = [&](std::uint32_t value) {
            return gray + (((static_cast<int>(value) - gray) * saturation_ + 128) >> 8);
        };
        return packed(saturated(levels & 255), saturated(levels >> 8 & 255), saturated(levels >> 16 & 255));
    }

private:
    // adjust_level() without the clamp.
    __device__ int level(std::uint32_t value) const {
        return (static_cast<int>(value) * slope_ + rounding_) >> adjust_slope_shift;
    }

    // Clamps each number to 0..255 and packs the three into a pixel.
    static __device__ Pixel packed(int b, int g, int r) {
        std::uint32_t high, pixel;
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(0), "r"(r), "r"(0));
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(pixel) : "r"(g), "r"(b), "r"(high));
        return pixel;
    }

    int slope_, rounding_, saturation_;
    SplitWeights weights_;
};

}  // namespace framewire
