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

/// Parameters of Binarize.
struct BinarizeParameters {
    /// How the threshold is found from each frame's histogram. If empty, the threshold is `level`.
    std::optional<ThresholdMethod> method = ThresholdMethod::two_max;
    int level = 128;  ///< 0..255
};

/// Black and white with one threshold per frame (streaming report, section 8): every channel of a pixel becomes 255 if
/// its gray value (gray's `weighted`) is above the threshold, otherwise 0. The result has as many channels as the
/// image. `in` and `out`: any strides and alignment, no overlap. One run at a time per plan.
class Binarize {
public:
    /// Throws Error{usage} on a shape or level that is not allowed.
    Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues histogram, threshold and result on the executor's stream; the threshold never visits the host.
    void run(const FilterImages<MemorySpace::device>& images);

    /// The `threshold` of each frame of the last run; empty before the first. Waits for the executor's stream.
    std::vector<FilterFigure> figures() const;

private:
    BinarizeParameters parameters_;
    Shape shape_;
    Executor* executor_;
    int bands_, histogram_bands_;  // CPU: number of parts into which a frame is divided for threads
    BackendBuffer thresholds_;     // one byte per frame
    BackendBuffer histograms_;     // CPU: one Histogram per band; CUDA: one per frame, all zero between runs
    HostBuffer gray_;              // CPU: the gray values of a BGR image
    bool has_run_ = false;
};

/// Thresholds one run of pixels at `level` on the calling thread, for passes that fuse several filters. `out_channels`
/// is 1 or the channels of `in`.
void binarize_span(int level, const std::uint8_t* in, int channels, std::int64_t pixels, int out_channels,
                   std::uint8_t* out);

/// Thresholds one pixel on the GPU, at the level stored in the operation.
class BinarizeOnDevice {
public:
    /// Takes the level from an operation of binarize_info().
    explicit BinarizeOnDevice(const PointwiseOp& op)
        : weights_(split(gray_weights(GrayMethod::weighted))), level_(op.values[0]) {}
    /// 255 in all channels if the pixel's gray value is above the level, otherwise 0.
    FRAMEWIRE_HOST_DEVICE Pixel operator()(Pixel pixel) const {
        return static_cast<int>(gray_of(pixel, weights_)) > level_ ? gray_pixel(255) : 0u;
    }

private:
    SplitWeights weights_;
    int level_;
};

/// Registry entry of `binarize`, including the methods `document` and `sauvola`.
FilterInfo binarize_info();

}  // namespace framewire
