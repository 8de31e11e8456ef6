#pragma once

#include "framewire/filters/changed_bytes.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>

namespace framewire {

/// Content of the result.
enum class NoiseMode {
    mask,     ///< noisy pixels in pure red on black
    overlay,  ///< the frame with the red channel of noisy pixels set to 255
};

/// The frame under an overlay.
enum class NoiseBase {
    frame,     ///< the current frame
    previous,  ///< the previous frame, as in the report
};

/// Parameters of Noise.
struct NoiseParameters {
    int threshold = 20;  ///< a pixel is noisy if any channel differs from the previous frame by more; 0..255
    NoiseMode mode = NoiseMode::mask;   ///< content of the result
    NoiseBase base = NoiseBase::frame;  ///< used by `overlay` only
};

/// Shows which pixels changed since the previous frame (streaming report, section 5). The result has three channels.
///
/// `in`, `previous` and `out`: frames x height x width, any strides and alignment, no overlap.
class Noise {
public:
    /// Throws Error{usage} on a threshold or shape that is not allowed.
    Noise(NoiseParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    NoiseParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// Registry entry of `noise`.
FilterInfo noise_info();

/// Draws one run of pixels on the calling thread, for passes that fuse several filters. `out` has three channels and
/// must not overlap the inputs.
void noise_span(const NoiseParameters& parameters, const std::uint8_t* in, const std::uint8_t* previous, int channels,
                std::int64_t pixels, std::uint8_t* out);

/// The noise picture from the positions that a difference encoder has already found, without reading the pixels again
/// (streaming report, section 5.0.6). Equals Noise with threshold 0 for the encoder's reference after and before the
/// frame, which is what a viewer sees. If the reference was the previous frame, it equals Noise with the encoder's
/// threshold for the two frames. Positions outside the frame are skipped.
class NoiseFromChanges {
public:
    /// `shape` is that of the encoder's frames. Throws Error{usage} on a shape that is not allowed.
    NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the frames with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// Draws one batch. `in` is the current frame, read in overlay mode only. Any strides, no overlap. Has finished
    /// when it returns.
    void run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> in,
             HostView<std::uint8_t> out) const;
    /// As above with everything in device memory; queued on the executor's stream.
    void run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> in,
             DeviceView<std::uint8_t> out) const;

private:
    NoiseMode mode_;
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire
