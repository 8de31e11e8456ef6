#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/hog/people_detector.hpp"

namespace framewire {
namespace {

constexpr int collect_threads = 256;

// Collects candidates. Few windows exceed a sensible threshold, so one atomic addition per candidate is cheap.
__global__ void __launch_bounds__(collect_threads)
    collect_kernel(const float* scores, std::int32_t windows, float threshold, WindowCandidate* candidates,
                   std::int32_t* count) {
    const auto window = static_cast<std::int32_t>(blockIdx.x * collect_threads + threadIdx.x);
    if (window >= windows) return;
    const float score = scores[window];
    if (score > threshold) candidates[atomicAdd(count, 1)] = {window, score};
}

}  // namespace

// Clears the count first, on the same stream.
void collect_candidates(const float* scores, std::int32_t windows, float threshold, WindowCandidate* candidates,
                        std::int32_t* count, const cuda::Stream& stream) {
    cuda::fill(count, 0, sizeof *count, stream);
    const auto blocks = cuda::blocks(windows, collect_threads);
    cuda::Launch(stream, blocks, collect_threads)(collect_kernel, scores, windows, threshold, candidates, count);
}

}  // namespace framewire
