#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/filters/median/median.hpp"
#include "framewire/filters/median/median_cuda.hpp"
#include "framewire/filters/median/networks/median_tile.hpp"

#include <algorithm>

namespace framewire {
namespace median_kernels {
namespace {

// Above this size, histograms are faster than networks.
constexpr int largest_network_median = 15;

}  // namespace
}  // namespace median_kernels

// Raises the limit on shared memory and divides images into blocks, for the methods that need it.
void Median::plan_for_cuda() {
    using namespace median_kernels;
    // Sizes up to 7 need no plan.
    const int size = parameters_.size;
    if (size > largest_network_median) {
        histograms_.emplace(size, shape_, executor_->shared_memory());
        allow_histogram_median();
    } else if (size >= smallest_median_of_strips) {
        strip_bytes_ = executor_->shared_memory().block_bytes;
        allow_strip_median(size, shape_.channels);
    }
}

// Chooses the kernel by size: copy, sort in registers, networks, networks with strips, histograms.
void Median::run(const FilterImages<MemorySpace::device>& images) {
    using namespace median_kernels;
    validate(images.in, shape_, "median's image");
    validate(images.out, shape_, "median's result");
    const auto [size, border] = parameters_;
    const auto& stream = executor_->stream();
    const auto in = images.in;
    const auto out = images.out;
    cuda::for_frames(shape_.frames, 1, [&](int frame, int frames) {
        const MedianImages part{cuda::KernelImage(in).from_frame(frame),
                                cuda::KernelImage(out).from_frame(frame),
                                shape_.width,
                                shape_.height,
                                shape_.channels,
                                frames};
        if (size == 1) {
            cuda::copy(in.frames(frame, frames), out.frames(frame, frames), stream);
        } else if (size == 3) {
            median_of_nine_on_device(part, border, stream);
        } else if (size < smallest_median_of_strips) {
            network_median_on_device(part, size, border, stream);
        } else if (size <= largest_network_median) {
            strip_median_on_device(part, size, border, strip_bytes_, stream);
        } else {
            histogram_median_on_device(part, size, border, *histograms_, stream);
        }
    });
}

}  // namespace framewire
