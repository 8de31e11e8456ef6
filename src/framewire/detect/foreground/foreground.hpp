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

struct ForegroundParameters {
    int blur = 15;       ///< size of the Gaussian, 1 to 255; 1 is none
    int threshold = 20;  ///< 0 to 255
};

/// Where frames differ from a background (moving-object report's steps 2 to 5): the bit of a pixel is set where its
/// blurred gray value and the background's differ by more than the threshold. Gray and blur are byte for byte those of
/// the filters `gray` (weighted) and `gaussian` (rounding opencv: for odd sizes those of OpenCV's calls). Frames:
/// one or three channels. Gray images: one. All with any strides and any alignment; masks without a bit outside.
class Foreground {
public:
    /// Throws Error{usage} on a shape, blur or threshold that is not allowed.
    Foreground(ForegroundParameters parameters, const Shape& frames, Executor& executor);

    Shape gray_shape() const { return shape_.with_channels(1); }

    /// The blurred gray images of a batch of frames: what backgrounds are made of. On the executor's threads; returns
    /// when done. No overlap.
    void blur(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) const;
    /// The same, queued on the executor's stream.
    void blur(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> blurred);

    /// The same of one frame whose rows of gray `make` makes, each once, on the executor's threads: of one channel, as
    /// the filter has it. Of the CPU backend, for batches of one frame.
    void blur(const MakeRows& make, HostView<std::uint8_t> blurred);

    /// `background`: a blurred gray image for the whole batch, or one for each frame. `blurred`, unless it is empty,
    /// gets those of the frames. On the executor's threads; returns when done. No overlap.
    void run(HostView<const std::uint8_t> frames, HostView<const std::uint8_t> background,
             HostBitMaskView<std::uint32_t> mask, HostView<std::uint8_t> blurred = {}) const;
    /// The same of one frame whose rows of gray `make` makes, as above.
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
    HostImage made_gray_;                             // on the CPU, of batches of one frame: rows that are made
    cuda::DeviceImage device_gray_, device_blurred_;  // on CUDA: what one step leaves for the next
};

}  // namespace framewire
