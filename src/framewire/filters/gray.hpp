#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray_input.hpp"

#include <cstdint>

namespace framewire {

/// Parameters of Gray.
struct GrayParameters {
    /// Method that determines the weights of the channels.
    GrayMethod method = GrayMethod::weighted;
    int channels = 3;  ///< channels of the result: 3 (the gray value in each channel) or 1
};

/// Converts BGR images to gray (streaming report, section 7), with the weights of GrayMethod. A one-channel image is
/// its own gray value.
///
/// `in` and `out`: frames x height x width, any strides and alignment, no overlap.
class Gray {
public:
    /// Throws Error{usage} on a shape or channel count that is not allowed.
    Gray(GrayParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result: that of the image with the requested channels.
    Shape output_shape() const { return shape_.with_channels(parameters_.channels); }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    GrayParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// Returns the registry entry of `gray`.
FilterInfo gray_info();

/// Converts one run of pixels on the calling thread, for passes that fuse several filters. `in_channels` and
/// `out_channels` are 1 or 3; `in` and `out` must not overlap.
void gray_span(GrayMethod method, const std::uint8_t* in, int in_channels, std::int64_t pixels, int out_channels,
               std::uint8_t* out);

/// Converts one pixel on the GPU, with the method stored in the operation.
class GrayOnDevice {
public:
    /// Takes the method from an operation of gray_info().
    explicit GrayOnDevice(const PointwiseOp& op)
        : weights_(split(gray_weights(static_cast<GrayMethod>(op.values[0])))) {}
    /// Returns the gray value in all three channels.
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel pixel) const { return gray_pixel(gray_of(pixel, weights_)); }

private:
    SplitWeights weights_;
};

}  // namespace framewire
