#pragma once

#include "framewire/filters/border.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/median/histogram/median_histogram_blocks.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace framewire {

inline constexpr int max_median_size = 255;

struct MedianParameters {
    int size = 3;  ///< odd, 1..255
    Border border = Border::reflect101;
};

/// The exact median of the size x size pixels around each, every channel on its own (streaming report, section 9).
/// In and out: any strides, any alignment, no overlap; frames x height x width, 1 or 3 channels.
class Median {
public:
    /// Throws Error{usage} on a size or shape that is not allowed, Error{config} on a size that this GPU has too little
    /// shared memory for: only above 231, and where a block has 64 KiB (sm_75).
    Median(MedianParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    struct CpuPlan;  // of the CPU backend alone
    struct CpuPlanDeleter {
        void operator()(CpuPlan* plan) const;
    };
    void plan_for_cpu();
    void plan_for_cuda();

    MedianParameters parameters_;
    Shape shape_;
    Executor* executor_;
    std::unique_ptr<CpuPlan, CpuPlanDeleter> cpu_plan_;
    std::optional<MedianHistogramBlocks> histograms_;  // on CUDA, of sizes that have them
    int strip_bytes_ = 0;                              // on CUDA: the most shared memory of a block of strips
};

/// The registry's entry.
FilterInfo median_info();

}  // namespace framewire
