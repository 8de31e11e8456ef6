#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/binarize/threshold.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

struct BinarizeParameters {
    /// How the threshold comes from each frame's histogram; none: it is `level`.
    std::optional<ThresholdMethod> method = ThresholdMethod::two_max;
    int level = 128;  ///< 0..255
};

/// Black and white by one threshold a frame (streaming report, section 8): each channel of a pixel becomes 255 where
/// its gray value (gray's `weighted`) is above the threshold, else 0. The result has as many channels as the image. In
/// and out: any strides, any alignment, no overlap. A plan is for one run at a time.
class Binarize {
public:
    /// Throws Error{usage} on a shape or level that is not allowed.
    Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream: histogram, thresholds and result, without a word to the host.
    void run(const FilterImages<MemorySpace::device>& images);

    /// The `threshold` of each frame of the last run. Waits for the executor's stream.
    std::vector<FilterFigure> figures() const;

private:
    BinarizeParameters parameters_;
    Shape shape_;
    Executor* executor_;
    int bands_, histogram_bands_;  // CPU: in how many parts threads take a frame
    BackendBuffer thresholds_;     // a byte for each frame
    BackendBuffer histograms_;     // CPU: a Histogram for each band; CUDA: one for each frame, all 0 between runs
    HostBuffer gray_;              // CPU: the gray values of a BGR image
    bool has_run_ = false;
};

/// One run of pixels on the CPU: what Binarize does with a level, for passes that join several filters.
void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, int out_channels,
                   std::uint8_t* out);

/// The same of one pixel on the GPU.
class BinarizeOnDevice {
public:
    explicit BinarizeOnDevice(const PointwiseOp& op)
        : weights_(split(gray_weights(GrayMethod::weighted))), level_(op.values[0]) {}
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel pixel) const {
        return static_cast<int>(gray_of(pixel, weights_)) > level_ ? gray_pixel(255) : 0u;
    }

private:
    SplitWeights weights_;
    int level_;
};

/// The registry's entry, `document` and `sauvola` included.
FilterInfo binarize_info();

}  // namespace framewire
