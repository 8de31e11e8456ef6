#pragma once

#include "framewire/filters/border.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/median/histogram/median_histogram_blocks.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace framewire {

/// Largest side of the window.
inline constexpr int max_median_size = 255;

/// Parameters of Median.
struct MedianParameters {
    int size = 3;                        ///< side of the window; odd, 1..255
    Border border = Border::reflect101;  ///< pixels outside the image
};

/// Exact median of the size x size pixels around each pixel, separately for each channel (streaming report, section 9).
/// The backends choose a method by size: sorting in registers, sorting networks, or sliding histograms, whose time does
/// not grow with the size.
///
/// `in` and `out`: frames x height x width, 1 or 3 channels, any strides and alignment, no overlap. One run at a time
/// per plan.
class Median {
public:
    /// Throws Error{usage} on a size or shape that is not allowed. Throws Error{config} if the GPU has too little
    /// shared memory for the size; this happens only above 231 with 64 KiB per block (sm_75).
    Median(MedianParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    struct CpuPlan;  // for the CPU backend only
    struct CpuPlanDeleter {
        void operator()(CpuPlan* plan) const;
    };
    void plan_for_cpu();
    void plan_for_cuda();

    MedianParameters parameters_;
    Shape shape_;
    Executor* executor_;
    std::unique_ptr<CpuPlan, CpuPlanDeleter> cpu_plan_;
    std::optional<MedianHistogramBlocks> histograms_;  // CUDA, for sizes that use histograms
    int strip_bytes_ = 0;                              // CUDA: most shared memory per block of the strip kernels
};

/// Registry entry of `median`.
FilterInfo median_info();

}  // namespace framewire
