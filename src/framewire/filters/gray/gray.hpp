#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>

namespace framewire {

struct GrayParameters {
    GrayMethod method = GrayMethod::weighted;
    int channels = 3;  ///< of the result: 3 (the gray value in each) or 1
};

/// Gray from BGR (streaming report, section 7). A one-channel image is its own gray value.
/// In and out: any strides, any alignment, no overlap; frames x height x width.
class Gray {
public:
    /// Throws Error{usage} on a shape or channel count that is not allowed.
    Gray(GrayParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_.with_channels(parameters_.channels); }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    GrayParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// The registry's entry.
FilterInfo gray_info();

/// One run of pixels on the CPU: what Gray does, for passes that join several filters.
void gray_span(GrayMethod method, const std::uint8_t* in, int in_channels, std::int64_t pixels, int out_channels,
               std::uint8_t* out);

/// The same of one pixel on the GPU.
class GrayOnDevice {
public:
    explicit GrayOnDevice(const PointwiseOp& op)
        : weights_(split(gray_weights(static_cast<GrayMethod>(op.values[0])))) {}
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel pixel) const { return gray_pixel(gray_of(pixel, weights_)); }

private:
    SplitWeights weights_;
};

}  // namespace framewire
