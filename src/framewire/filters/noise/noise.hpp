#pragma once

#include "framewire/filters/changed_bytes.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>

namespace framewire {

enum class NoiseMode {
    mask,     ///< noisy pixels pure red, the others black
    overlay,  ///< the frame, with the red channel of noisy pixels set to 255
};

/// What an overlay lies on.
enum class NoiseBase {
    frame,     ///< the frame itself
    previous,  ///< the one before it (the report's)
};

struct NoiseParameters {
    int threshold = 20;  ///< a pixel is noisy when any channel differs from the previous frame by more; 0..255
    NoiseMode mode = NoiseMode::mask;
    NoiseBase base = NoiseBase::frame;  ///< of an overlay
};

/// Which pixels changed since the previous frame (streaming report, section 5). The result has three channels.
/// In, previous and out: any strides, any alignment, no overlap; frames x height x width.
class Noise {
public:
    /// Throws Error{usage} on a threshold or shape that is not allowed.
    Noise(NoiseParameters parameters, const Shape& shape, Executor& executor);

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

/// The registry's entry.
FilterInfo noise_info();

/// One run of pixels on the CPU: what Noise does, for passes that join several filters.
void noise_span(const NoiseParameters& parameters, const std::uint8_t* in, const std::uint8_t* previous, int channels,
                std::int64_t pixels, std::uint8_t* out);

/// The report's last step (section 5.0.6): the noise picture from the positions a difference encoder has found anyway,
/// without looking at the pixels again. Equal to Noise with threshold 0 of the encoder's reference after and before,
/// which is what a viewer holds; where the reference was the previous frame, equal to Noise with the encoder's
/// threshold of the two frames. Positions outside the frame are left out.
class NoiseFromChanges {
public:
    /// `shape` is the encoder's. Throws Error{usage} on one that is not allowed.
    NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_.with_channels(3); }

    /// `in` is the current frame, looked at in overlay mode only. Any strides, no overlap. Host: returns when done.
    void run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> in,
             HostView<std::uint8_t> out) const;
    /// The same with everything in device memory; queued on the executor's stream.
    void run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> in,
             DeviceView<std::uint8_t> out) const;

private:
    NoiseMode mode_;
    Shape shape_;
    Executor* executor_;
};

}  // namespace framewire
