#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/gaussian/gaussian.hpp"
#include "framewire/filters/gray/gray.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// Parameters of Foreground.
struct ForegroundParameters {
    int blur = 15;       ///< size of the Gaussian, 1 to 255; 1: no blur
    int threshold = 20;  ///< 0 to 255
};

/// Mask of the pixels that differ from a background (moving-object report, steps 2 to 5): a bit is set if the
/// blurred gray value differs from the background by more than the threshold. Gray and blur equal the filters
/// `gray` (weighted) and `gaussian` (rounding opencv; for odd sizes OpenCV's result) byte for byte. Frames have
/// one or three channels, gray images one. All may have any strides and alignment; masks have no bit set
/// outside of the image.
class Foreground {
public:
    /// Throws Error{usage} if the shape, the blur or the threshold is not allowed.
    Foreground(ForegroundParameters parameters, const Shape& frames, Executor& executor);

    /// Returns the shape of blurred gray images and of masks.
    Shape gray_shape() const { return shape_.with_channels(1); }

    /// Writes the blurred gray images of a batch of frames, of which backgrounds are made. Runs on the
    /// executor's threads and returns when done. No overlap.
    void blur(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) const;
    /// The same, queued on the executor's stream.
    void blur(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> blurred);

    /// The same for one frame whose gray rows `make` writes, each once, on the executor's threads. For batches
    /// of one frame on the CPU backend.
    void blur(const MakeRows& make, HostView<std::uint8_t> blurred);

    /// Writes the mask of a batch. `background` is one blurred gray image for the whole batch, or one per
    /// frame. If `blurred` is not empty, it receives the blurred frames. Runs on the executor's threads and
    /// returns when done. No overlap.
    void run(HostView<const std::uint8_t> frames, HostView<const std::uint8_t> background,
             HostBitMaskView<std::uint32_t> mask, HostView<std::uint8_t> blurred = {}) const;
    /// The same for one frame whose gray rows `make` writes, as above.
    void run(const MakeRows& make, HostView<const std::uint8_t> background, HostBitMaskView<std::uint32_t> mask);
    /// The same, queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<const std::uint8_t> background,
             DeviceBitMaskView<std::uint32_t> mask, DeviceView<std::uint8_t> blurred = {});

private:
    HostView<const std::uint8_t> gray_of(const MakeRows& make);

    int threshold_;
    Shape shape_;
    GaussianWeights weights_;
    Executor* executor_;
    Gray gray_;
    Gaussian gaussian_;
    HostImage made_gray_;                             // CPU, batches of one frame: gray rows that a function wrote
    cuda::DeviceImage device_gray_, device_blurred_;  // CUDA: results of one step for the next
};

}  // namespace framewire
