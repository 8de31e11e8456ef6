#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/gaussian/gaussian.hpp"

#include <cstdint>

namespace framewire {

/// The foreground from frames to bits in one kernel, for CUDA and blurs of up to 17 taps. Blurring a row is a product
/// with a banded matrix of the weights, blurring columns another one: both run on the tensor cores, in whole numbers,
/// so the bytes are those of the Gaussian with GaussianRounding::opencv, which the weights are for.
class MatrixForeground {
public:
    /// Whether the weights are few enough, and the current GPU has tensor cores that multiply bytes (compute capability
    /// 8.0 and later).
    static bool serves(const GaussianWeights& weights);

    /// For batches of a shape. Throws what CUDA fails with.
    MatrixForeground(const GaussianWeights& weights, const Shape& frames, Executor& executor);

    /// As Foreground::run() with checked arguments, queued on the executor's stream. Without a mask only blurs, without
    /// `blurred` only makes the mask.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<const std::uint8_t> background, int threshold,
             DeviceBitMaskView<std::uint32_t> mask, DeviceView<std::uint8_t> blurred) const;

private:
    Executor* executor_;
    cuda::DeviceBuffer fragments_;
    int strips_, bands_, band_rows_;
};

}  // namespace framewire
