#pragma once

#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// Content of the result.
enum class NoiseMode {
    mask,     ///< noisy pixels in pure red on black
    overlay,  ///< the frame with the red channel of noisy pixels set to 255
};

/// Frame on which an overlay is drawn.
enum class NoiseBase {
    frame,     ///< the current frame
    previous,  ///< the previous frame, as in the report
};

/// Parameters of Noise.
struct NoiseParameters {
    int threshold = 20;  ///< a pixel is noisy if any channel differs by more from the previous frame; 0..255
    NoiseMode mode = NoiseMode::mask;   ///< content of the result
    NoiseBase base = NoiseBase::frame;  ///< used by `overlay` only
};

/// Shows which pixels changed since the previous frame (streaming report, section 5). The result has three channels.
///
/// `in`, `previous` and `out` are frames x height x width, with any strides and alignment. They must not overlap.
class Noise {
public:
    /// Prepares the filter. Throws Error{usage} if the threshold or the shape is not allowed.
    Noise(NoiseParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result: that of the image, with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    NoiseParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// Returns the registry entry of `noise`.
FilterInfo noise_info();

/// Draws one run of pixels on the calling thread, for passes that fuse several filters. `out` has three channels and
/// must not overlap the inputs.
void noise_span(const NoiseParameters& parameters, const std::uint8_t* in, const std::uint8_t* previous, int channels,
                std::int64_t pixels, std::uint8_t* out);

/// Draws the noise picture from the positions that a difference encoder has already found, without reading the pixels
/// again (streaming report, section 5.0.6). Equals Noise with threshold 0, comparing the encoder's reference after the
/// frame with that before it, which is what a viewer sees. If the reference was the previous frame, it equals Noise
/// with the encoder's threshold for the two frames. Positions outside the frame are skipped.
class NoiseFromChanges {
public:
    /// Prepares the filter; `shape` is that of the encoder's frames. Throws Error{usage} if it is not allowed.
    NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor);

    /// Returns the shape of the result: that of the frames, with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// Draws one batch on the executor's threads and returns when done. `in` is the current frame, which only overlay
    /// mode reads. Strides may be any; memory must not overlap.
    void run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> in,
             HostView<std::uint8_t> out) const;
    /// Draws one batch in device memory; queued on the executor's stream.
    void run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> in,
             DeviceView<std::uint8_t> out) const;

private:
    NoiseMode mode_;
    Shape shape_;
    Executor* executor_;
};

/// The colour of noisy pixels.
inline constexpr Pixel red = pixel_of(0, 0, 255);

/// Returns true if any channel of two pixels differs by more than the threshold.
FRAMEWIRE_HOST_DEVICE inline bool is_noisy(Pixel now, Pixel before, int threshold) {
#ifdef __CUDA_ARCH__
    return __vcmpgtu4(__vabsdiffu4(now, before), static_cast<unsigned>(threshold) * 0x01010101u) != 0;
#else
    for (int channel = 0; channel < 3; ++channel) {
        const int difference = channel_of(now, channel) - channel_of(before, channel);
        if (difference > threshold || -difference > threshold) return true;
    }
    return false;
#endif
}

/// Background under the red pixels: black, the frame or the previous one.
enum class NoiseUnder { nothing, frame, previous };

/// Returns the background on which these parameters draw the red pixels.
FRAMEWIRE_HOST_DEVICE inline NoiseUnder noise_under(const NoiseParameters& parameters) {
    if (parameters.mode == NoiseMode::mask) return NoiseUnder::nothing;
    return parameters.base == NoiseBase::frame ? NoiseUnder::frame : NoiseUnder::previous;
}

/// Returns the result for one pixel: the background, with the red channel set to 255 if the pixel is noisy.
FRAMEWIRE_HOST_DEVICE inline Pixel noise_pixel(Pixel now, Pixel before, int threshold, NoiseUnder under) {
    const Pixel base = under == NoiseUnder::frame ? now : under == NoiseUnder::previous ? before : 0;
    return base | (is_noisy(now, before, threshold) ? red : 0);
}

/// Calls noise_pixel() on the GPU, for passes that fuse several filters.
class NoiseOnDevice {
public:
    /// Takes threshold and background from an operation of noise_info().
    explicit NoiseOnDevice(const PointwiseOp& op)
        : threshold_(op.values[0]), under_(static_cast<NoiseUnder>(op.values[1])) {}
    /// Returns the result for one pixel, given its value now and in the previous frame.
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel now, Pixel before) const {
        return noise_pixel(now, before, threshold_, under_);
    }

private:
    int threshold_;
    NoiseUnder under_;
};

}  // namespace framewire
