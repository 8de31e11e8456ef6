#include "framewire/cuda/kernel.cuh"
#include "framewire/hog/window_scores.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

// Scores windows on the GPU. A block scores a tile of windows, WindowTiles::columns x rows. Its shared memory holds the
// descriptors under the tile and the weights, for one part of the window and three quads of values at a time:
//
//     warp -> one quad of values, one group of rows
//     lane -> one column of windows, 8 windows high; sums in registers
using Layout = WindowTiles;

// Arguments of the kernel.
struct ScoreJob {
    const float4* weights;
    const float* descriptors;
    int rows, columns, values;  // shape of the descriptors
    WindowTiles tiles;
    WindowGrid windows;
    float bias;
    float* scores;
};

// Copies the four values of one place, or zeros if it has none.
template <bool aligned>
__device__ void copy_quad(const ScoreJob& job, int y, int x, int quad, float4* to) {
    // Places after the end of the image are zero, so windows that lie partly outside need no special case.
    const bool there = y < job.rows && x < job.columns && quad < job.tiles.quads;
    const auto* from =
        job.descriptors + (there ? (std::int64_t{y} * job.columns + x) * job.values + quad * window_quad : 0);
    if constexpr (aligned) {
        cuda::copy_chunk_async(reinterpret_cast<std::uint8_t*>(to), reinterpret_cast<const std::uint8_t*>(from),
                               there ? cuda::chunk_bytes : 0);
    } else {
        const auto value = [&](int i) { return there && quad * window_quad + i < job.values ? from[i] : 0.0f; };
        *to = {value(0), value(1), value(2), value(3)};
    }
}

// Scores windows. Warps with the same windows take one quad of values each. A lane moves down the rows of one column of
// the window for all its windows at once: from one row to the next, all descriptors except one stay in its registers.
template <bool aligned>
__global__ void __launch_bounds__(window_tile_threads) score_kernel(ScoreJob job) {
    extern __shared__ float4 memory[];
    constexpr int quads_at_once = Layout::quads_at_once, high = Layout::windows_of_lane;
    const auto& tiles = job.tiles;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int own_quad = warp % quads_at_once, row_warp = warp / quads_at_once;
    const int tile_rows = tiles.tile_rows(), row_quads = tiles.tile_columns() * quads_at_once;
    auto* weights = memory + tile_rows * row_quads;
    const int first_x = static_cast<int>(blockIdx.x) * Layout::columns,
              first_y = static_cast<int>(blockIdx.y) * Layout::rows;
    float sums[high] = {};
    for (int first_quad = 0; first_quad < tiles.quads; first_quad += quads_at_once)
        for (int part_y = 0; part_y < tiles.window_rows; part_y += tiles.part_rows)
            for (int part_x = 0; part_x < tiles.window_columns; part_x += tiles.part_columns) {
                __syncthreads();  // all threads have finished with the previous part
                for (int row = warp; row < tile_rows; row += window_tile_threads / 32)
                    for (int i = lane; i < row_quads; i += 32)
                        copy_quad<aligned>(job, first_y + part_y + row, first_x + part_x + i / quads_at_once,
                                           first_quad + i % quads_at_once, memory + row * row_quads + i);
                cuda::commit_copies();
                const int rows = min(tiles.part_rows, tiles.window_rows - part_y),
                          columns = min(tiles.part_columns, tiles.window_columns - part_x);
                for (int i = thread; i < quads_at_once * columns * rows; i += window_tile_threads) {
                    const int row = i % rows, column = i / rows % columns, quad = first_quad + i / rows / columns;
                    weights[i] = quad < tiles.quads
                                     ? job.weights[(quad * tiles.window_columns + part_x + column) * tiles.window_rows +
                                                   part_y + row]
                                     : float4{};
                }
                cuda::wait_for_copies<0>();
                __syncthreads();

                // The weights of the warp's quad, in the order in which the loops read them.
                const auto* own_weights = weights + own_quad * columns * rows;
                for (int column = 0; column < columns; ++column, own_weights += rows) {
                    const auto* down =
                        memory + row_warp * high * row_quads + (lane + column) * quads_at_once + own_quad;
                    float4 held[high];
#pragma unroll
                    for (int i = 0; i < high - 1; ++i) held[i] = down[i * row_quads];
                    down += (high - 1) * row_quads;
                    for (int first_row = 0; first_row < rows; first_row += high) {
#pragma unroll
                        for (int row = 0; row < high; ++row) {
                            if (first_row + row >= rows) break;
                            held[(row + high - 1) % high] = down[(first_row + row) * row_quads];
                            const auto weight = own_weights[first_row + row];
#pragma unroll
                            for (int window = 0; window < high; ++window) {
                                const auto& value = held[(row + window) % high];
                                auto& sum = sums[window];
                                sum = fmaf(weight.x, value.x, sum);
                                sum = fmaf(weight.y, value.y, sum);
                                sum = fmaf(weight.z, value.z, sum);
                                sum = fmaf(weight.w, value.w, sum);
                            }
                        }
                    }
                }
            }
    // Adds up the sums of the warps that have the same windows.
    __syncthreads();
    // The memory of the descriptors is free now.
    auto* others = reinterpret_cast<float*>(memory) + row_warp * high * 32 + lane;
    constexpr int of_quad = Layout::row_warps * high * 32;
    if (own_quad > 0)
#pragma unroll
        for (int window = 0; window < high; ++window) others[(own_quad - 1) * of_quad + window * 32] = sums[window];
    __syncthreads();
    const int x = first_x + lane;
    if (own_quad > 0 || x >= job.windows.columns) return;
#pragma unroll
    for (int window = 0; window < high; ++window) {
        const int y = first_y + row_warp * high + window;
        if (y >= job.windows.rows) return;
        auto sum = sums[window];
#pragma unroll
        for (int quad = 1; quad < quads_at_once; ++quad) sum += others[(quad - 1) * of_quad + window * 32];
        job.scores[std::int64_t{y} * job.windows.columns + x] = sum + job.bias;
    }
}

}  // namespace

void WindowScores::allow_memory() {
    cuda::allow_shared_memory(score_kernel<true>);
    cuda::allow_shared_memory(score_kernel<false>);
}

// Copies descriptors asynchronously if they have a multiple of four values and an aligned address.
void WindowScores::run(HogView<const float, MemorySpace::device> descriptors, float* scores) const {
    const auto& shape = descriptors.shape();
    const auto windows = grid(shape);
    if (windows.count() == 0) return;
    const ScoreJob job{reinterpret_cast<const float4*>(weights_.as<float>()),
                       descriptors.data(),
                       shape.rows,
                       shape.columns,
                       shape.values,
                       tiles_,
                       windows,
                       bias_,
                       scores};
    const bool aligned =
        shape.values % window_quad == 0 && reinterpret_cast<std::uintptr_t>(descriptors.data()) % sizeof(float4) == 0;
    const dim3 blocks(cuda::blocks(windows.columns, Layout::columns), cuda::blocks(windows.rows, Layout::rows));
    cuda::Launch(executor_->stream(), blocks, window_tile_threads, tiles_.memory_bytes())(
        (aligned ? score_kernel<true> : score_kernel<false>), job);
}

}  // namespace framewire
