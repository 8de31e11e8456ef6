#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/adaptive.hpp"
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

/// The background is an exponential running mean of the previous frames.
struct RunningMean {
    double rate;  ///< weight of the newest frame, above 0 up to 1
    friend bool operator==(const RunningMean&, const RunningMean&) = default;
};

/// The background is an image file that the user supplies.
struct BackgroundImage {
    std::string path;
    friend bool operator==(const BackgroundImage&, const BackgroundImage&) = default;
};

/// Model of the background that frames are compared with to find motion; the option `--background` selects it.
using BackgroundModel = std::variant<FirstFrame, RunningMean, MixtureParameters, AdaptiveParameters, BackgroundImage>;

/// Parses "first", "mean:RATE" (mean:0.02), "mixture" or "adaptive" with any of their parameters as options
/// ("mixture:history=200:shadows=0"), or the path of an image, which must contain a '.' or '/' and is not
/// opened here. Throws Error{usage} for anything else; the message lists what is allowed.
BackgroundModel parse_background(std::string_view text);

/// Returns true if the model classifies the unmodified frames by itself, so that no difference from a picture is
/// computed: a mixture and an adaptive background do.
bool classifies_frames(const BackgroundModel& model);

/// Returns the name of the model as parse_background() reads it, or "picture" for a BackgroundImage.
std::string_view name_of_background(const BackgroundModel& model);

/// Returns the model as parse_background() reads it, with those parameters that differ from their defaults:
/// "mixture:history=100", "mean:0.05", or the path of a BackgroundImage. AdaptiveParameters::keep_seconds and the frame
/// rate are not part of the text.
std::string to_string(const BackgroundModel& model);

/// Returns how many frames at the start of a stream have no usable background: there is none yet, or people in the
/// first frame are still part of it. 0 for a BackgroundImage; 1 for FirstFrame, the frame itself. For a RunningMean
/// or a mixture, the number of frames in whose background the first frame has more than half of the weight; 1 for a
/// mixture that does not learn, since its background never changes. For an adaptive background, the number of frames in
/// which half of a pixel's samples are replaced on average.
std::int64_t frames_before_background(const BackgroundModel& model);

/// Value of a running mean before its first frame. Means are in units of 1/65536.
inline constexpr std::uint32_t no_mean = ~0u;
/// Fractional bits of a running mean.
inline constexpr int mean_fraction_bits = 16;

/// Returns the mean after `value` has entered: mean + rate (value - mean), rounded half up to a unit. `mean` and
/// `rate` are in units of 1/65536.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t mean_after(std::uint32_t mean, std::uint8_t value, std::uint32_t rate) {
    const auto difference = (std::int64_t{value} << mean_fraction_bits) - mean;
    const auto step = (difference * rate + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits;
    return static_cast<std::uint32_t>(mean + step);
}

/// Returns the mean as a gray value, rounded half up.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t gray_of_mean(std::uint32_t mean) {
    return static_cast<std::uint8_t>((mean + (1 << (mean_fraction_bits - 1))) >> mean_fraction_bits);
}

/// Background model: the exponential running mean of the gray frames. Each frame is compared with the mean of the
/// frames before it. The plan owns the means, 4 bytes per pixel, in device memory on CUDA. Integer arithmetic gives
/// the same bytes on every backend.
class MeanBackground {
public:
    /// `shape` gives height and width of the frames and must have one channel; its number of frames is ignored.
    /// `rate` is above 0 up to 1 and rounded to the nearest 1/65536, but never to 0. Throws Error{usage} if the rate
    /// or the shape is not allowed.
    MeanBackground(double rate, const Shape& shape, Executor& executor);

    /// Forgets all frames. On CUDA the call is queued on the executor's stream.
    void reset();

    /// Processes a batch of any number of frames in order and writes the background that each is to be compared
    /// with; for the very first frame that is the frame itself. Frames and backgrounds have the same shape, any
    /// strides and alignment, and must not overlap. Runs on the executor's threads and returns when done.
    void run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds);
    /// Queues the same operation on the executor's stream in one launch.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> backgrounds);

private:
    Shape shape_;         // shape of one frame
    std::uint32_t rate_;  // weight of the newest frame, in units of 1/65536
    Executor* executor_;
    BackendBuffer means_;  // means of all pixels, row by row
};

/// Parameters of Foreground.
struct ForegroundParameters {
    int blur = 15;       ///< size of the Gaussian, 1 to 255; 1: no blur
    int threshold = 20;  ///< a pixel is set if it differs by more, 0 to 255
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

    /// Writes the blurred gray images of a batch of frames, from which backgrounds are made. `frames` may already be
    /// gray, whatever the channels of the plan. Runs on the executor's threads and returns when done. The images must
    /// not overlap.
    void blur(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) const;
    /// Queues the same operation on the executor's stream.
    void blur(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> blurred);

    /// Writes the mask of a batch. `frames` may already be gray. `background` is one blurred gray image for the whole
    /// batch, or one per frame. If `blurred` is not empty, it receives the blurred frames. Runs on the executor's
    /// threads and returns when done. The images must not overlap.
    void run(HostView<const std::uint8_t> frames, HostView<const std::uint8_t> background,
             HostBitMaskView<std::uint32_t> mask, HostView<std::uint8_t> blurred = {}) const;
    /// Queues the same operation on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames, DeviceView<const std::uint8_t> background,
             DeviceBitMaskView<std::uint32_t> mask, DeviceView<std::uint8_t> blurred = {});

private:
    int threshold_;
    Shape shape_;
    GaussianWeights weights_;
    Executor* executor_;
    Gray gray_;
    Gaussian gaussian_;
    cuda::DeviceImage device_gray_, device_blurred_;  // CUDA: results of one step for the next
};

}  // namespace framewire
