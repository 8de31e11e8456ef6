#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/hog/people/window_scores/window_scores.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace window_scores_kernels {
namespace {

constexpr int score_threads = 128;  // of a block
constexpr int warp_windows = 8;     // side by side

struct ScoreJob {
    const float *weights, *descriptors;
    std::int64_t row_values;  // of the descriptors
    int window_rows, window_row_values, values;
    int columns;  // of windows
    float bias;
    float* scores;
};

// A warp takes windows side by side, which share each of the weights; a lane every 32nd value of a row. Windows beyond
// the last column are the last one.
__global__ void __launch_bounds__(score_threads) score_kernel(ScoreJob job) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int first = (static_cast<int>(blockIdx.x) * (score_threads / 32) + warp) * warp_windows;
    const int y = static_cast<int>(blockIdx.y);
    if (first >= job.columns) return;
    int offsets[warp_windows];
    float sums[warp_windows];
#pragma unroll
    for (int window = 0; window < warp_windows; ++window) {
        offsets[window] = (min(first + window, job.columns - 1) - first) * job.values;
        sums[window] = 0;
    }
    const auto* descriptors = job.descriptors + y * job.row_values + std::int64_t{first} * job.values;
    const auto* weights = job.weights;
    for (int row = 0; row < job.window_rows; ++row) {
        for (int i = lane; i < job.window_row_values; i += 32) {
            const auto weight = weights[i];
#pragma unroll
            for (int window = 0; window < warp_windows; ++window)
                sums[window] += weight * descriptors[offsets[window] + i];
        }
        descriptors += job.row_values;
        weights += job.window_row_values;
    }
#pragma unroll
    for (int window = 0; window < warp_windows; ++window) {
        sums[window] = cuda::warp_sum(sums[window]);
        if (lane == 0 && first + window < job.columns)
            job.scores[std::int64_t{y} * job.columns + first + window] = sums[window] + job.bias;
    }
}

}  // namespace
}  // namespace window_scores_kernels

void WindowScores::run(HogView<const float, MemorySpace::device> descriptors, float* scores) const {
    using namespace window_scores_kernels;
    const auto windows = grid(descriptors.shape());
    if (windows.count() == 0) return;
    constexpr int block_windows = score_threads / 32 * warp_windows;
    const ScoreJob job{weights_.as<float>(),
                       descriptors.data(),
                       descriptors.shape().row_values(),
                       window_.rows,
                       static_cast<int>(window_.row_values()),
                       window_.values,
                       windows.columns,
                       bias_,
                       scores};
    const dim3 blocks(cuda::blocks(windows.columns, block_windows), static_cast<unsigned>(windows.rows));
    score_kernel<<<blocks, score_threads, 0, executor_->stream().handle()>>>(job);
    cuda::check_launch();
}

}  // namespace framewire
