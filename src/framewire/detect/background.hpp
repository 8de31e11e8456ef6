#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/gray.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace framewire {

/// The background is the first frame.
struct FirstFrame {
    friend bool operator==(const FirstFrame&, const FirstFrame&) = default;
};

/// The background is an exponential running mean of the frames before.
struct RunningMean {
    double rate;  ///< weight of the newest frame, above 0 up to 1
    friend bool operator==(const RunningMean&, const RunningMean&) = default;
};

/// The background is an image file of the user.
struct BackgroundImage {
    std::string path;
    friend bool operator==(const BackgroundImage&, const BackgroundImage&) = default;
};

/// The models that frames are compared with to find motion; the option `--background`.
using BackgroundModel = std::variant<FirstFrame, RunningMean, MixtureParameters, BackgroundImage>;

/// Parses "first", "mean:RATE" (mean:0.02), "mixture" with any of MixtureParameters as options
/// ("mixture:history=200:shadows=0"), or the path of an image, which must contain a '.' or '/' and is not
/// opened here. Throws Error{usage} for anything else; the message lists what is allowed.
BackgroundModel parse_background(std::string_view text);

/// Returns the name of the model in that syntax, or "picture" for a BackgroundImage.
std::string_view name_of_background(const BackgroundModel& model);

/// Returns how many frames at the start of a stream have no background yet, or one that says little about the
/// scene because people in the first frame are part of it. 0 for a BackgroundImage. 1 for FirstFrame: that
/// frame itself. For a RunningMean and a mixture, the frames whose background is the first frame for more than
/// half; 1 for a mixture that does not learn, since it never has anything but the first frame.
std::int64_t frames_before_background(const BackgroundModel& model);

/// Value of a running mean before its first frame. Means are in units of 1/65536.
inline constexpr std::uint32_t no_mean = ~0u;
/// Fractional bits of a running mean.
inline constexpr int mean_fraction_bits = 16;

/// Returns the mean after `value` has entered: mean + rate (value - mean), rounded half up to a unit. `rate` is
/// in units of 1/65536 too.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t mean_after(std::uint32_t mean, std::uint8_t value, std::uint32_t rate) {
    const auto difference = (std::int64_t{value} << mean_fraction_bits) - mean;
    const auto step = (difference * rate + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits;
    return static_cast<std::uint32_t>(mean + step);
}

/// Returns the mean as a gray value, rounded half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t gray_of_mean(std::uint32_t mean) {
    return static_cast<std::uint8_t>((mean + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits);
}

/// Background model that is the exponential running mean of the gray frames. Each frame is compared with the
/// mean before the frame enters it. The plan owns the means, 4 bytes per pixel, in device memory on CUDA.
/// Integer arithmetic gives the same bytes on every backend.
class MeanBackground {
public:
    /// `shape` gives height and width of the frames; its number of frames is ignored. `rate` is above 0 up to 1
    /// and rounded to the nearest 1/65536, but never to 0. Throws Error{usage} if the rate or the shape is not
    /// allowed; only one channel is.
    MeanBackground(double rate, const Shape& shape, Executor& executor);

    /// Forgets all frames. On CUDA the call is queued on the executor's stream.
    void reset();

    /// Processes a batch of any number of frames in order and writes the background that each is to be compared
    /// with; for the very first frame that is the frame itself. Frames and backgrounds have the same shape, any
    /// strides and alignment, and must not overlap. Runs on the executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds);
    /// The same, queued on the executor's stream in one launch.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds);

private:
    Shape shape_;         // shape of one frame
    std::uint32_t rate_;  // in units of 1/65536
    Executor* executor_;
    BackendBuffer means_;  // row after row
};

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
