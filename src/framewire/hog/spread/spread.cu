#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/hog/hog_scratch.hpp"
#include "framewire/hog/spread/spread.hpp"
#include "framewire/hog/vote.cuh"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace spread_kernels {
namespace {

using hog_kernels::Vote;
using hog_kernels::vote_of;

// A block of threads has some windows side by side, a thread a histogram of one; their pixels come row by row.

constexpr int spread_threads = 128;
constexpr int most_strip_px = 768;  // of a row of a block's windows

struct Strip {
    int windows, px;
};

// As many windows as there are threads or pixels for; one always fits.
constexpr Strip strip_of(int cells, int targets, int cell) {
    const int windows = std::clamp(most_strip_px / cell - cells + 1, 1, spread_threads / (targets * targets));
    return {windows, (windows + cells - 1) * cell};
}
static_assert(hog_most_block * hog_most_block <= spread_threads);
static_assert(strip_of(hog_most_block, hog_most_block, hog_most_cell).px <= most_strip_px);

constexpr std::size_t spread_memory_bytes(int strip_px, int bins) {
    return static_cast<std::size_t>(bins + 1) * spread_threads * sizeof(float2) +
           static_cast<std::size_t>(strip_px) * sizeof(Vote) + 256;
}
static_assert(spread_memory_bytes(most_strip_px, hog_most_bins) <= 48 * 1024, "what every GPU grants");

struct SpreadJob {
    SpreadImages images;
    const float* weights;
    int before, cells, targets;
    Strip strip;
    // Of each target the pixels of the window that vote for it.
    int begin[hog_most_block], end[hog_most_block];
};

__global__ void __launch_bounds__(spread_threads) spread_kernel(SpreadJob job) {
    extern __shared__ float2 sums[];  // slots x threads
    const auto& images = job.images;
    const auto& shape = images.shape;
    const int bins = images.ring.bins, slots = bins + 1, cell = images.cell;
    auto* votes = reinterpret_cast<Vote*>(sums + slots * spread_threads);
    auto* table = reinterpret_cast<std::uint8_t*>(votes + job.strip.px);
    const auto frame = std::int64_t{blockIdx.z};
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < 64; i += spread_threads)
        reinterpret_cast<std::uint32_t*>(table)[i] =
            reinterpret_cast<const std::uint32_t*>(images.tables + frame * 256)[i];
    for (int slot = 0; slot < slots; ++slot) sums[slot * spread_threads + thread] = {};

    const int targets = job.targets * job.targets, window = thread / targets, target = thread % targets;
    const int first_window = static_cast<int>(blockIdx.x) * job.strip.windows, window_y = static_cast<int>(blockIdx.y);
    const bool has_window = window < job.strip.windows && first_window + window < shape.columns;
    const int target_y = target / job.targets, target_x = target % job.targets;
    const int first_x = (first_window - job.before) * cell, first_y = (window_y - job.before) * cell;
    const int whole_width = images.columns * cell, whole_height = images.rows * cell, side = job.cells * cell;
    const auto* weights_x = job.weights + target_x * side;
    const auto* gray = images.gray + frame * images.height * images.row_stride_bytes;
    for (int row = max(0, -first_y); row < side && first_y + row < whole_height; ++row) {
        const int y = first_y + row;
        const auto line = [&](int at) {
            return gray + std::int64_t{min(max(at, 0), images.height - 1)} * images.row_stride_bytes;
        };
        const auto *above = line(y - 1), *here = line(y), *below = line(y + 1);
        __syncthreads();
        for (int i = thread; i < job.strip.px; i += spread_threads) {
            const int x = first_x + i;
            if (x < 0 || x >= whole_width) {
                votes[i] = {};
                continue;
            }
            const auto of = [&](const std::uint8_t* from, int at) { return static_cast<int>(table[from[at]]); };
            votes[i] = vote_of(of(here, min(x + 1, images.width - 1)) - of(here, max(x - 1, 0)),
                               of(below, x) - of(above, x), images.ring);
        }
        __syncthreads();
        if (!has_window || row < job.begin[target_y] || row >= job.end[target_y]) continue;
        const auto weight_y = job.weights[target_y * side + row];
        for (int x = job.begin[target_x]; x < job.end[target_x]; ++x) {
            const auto vote = votes[window * cell + x];
            const auto weight = weight_y * weights_x[x];
            auto& sum = sums[vote.slot * spread_threads + thread];
            const float2 was = sum;
            sum = {was.x + weight * vote.first, was.y + weight * vote.second};
        }
    }
    if (!has_window) return;
    const auto* own = sums + thread;
    auto* out = images.out + ((frame * shape.rows + window_y) * shape.columns + first_window + window) * shape.values +
                target * bins;
    for (int bin = 0; bin < bins; ++bin) {
        auto value = own[bin * spread_threads].y + own[(bin + 1) * spread_threads].x;
        if (bin == bins - 1) value += own[0].x;
        if (bin == 0) value += own[bins * spread_threads].y;
        out[bin] = value;
    }
}

}  // namespace
}  // namespace spread_kernels

void spread_votes_on_device(const HogSpread& spread, const SpreadImages& images, const cuda::Stream& stream) {
    using namespace spread_kernels;
    const auto& axis = spread.axis;
    SpreadJob job{images,       spread.weights.as<float>(),
                  axis.before,  axis.cells,
                  axis.targets, strip_of(axis.cells, axis.targets, images.cell),
                  {},           {}};
    const int side = axis.cells * images.cell;
    for (int target = 0; target < axis.targets; ++target) {
        const auto* weights = axis.weights.data() + target * side;
        int begin = 0, end = side;
        while (begin < end && weights[begin] == 0) ++begin;
        while (end > begin && weights[end - 1] == 0) --end;
        job.begin[target] = begin;
        job.end[target] = end;
    }
    const auto& shape = images.shape;
    cuda::for_frames(shape.frames, 1, [&](int first, int count) {
        auto part = job;
        part.images.gray += first * images.height * images.row_stride_bytes;
        part.images.tables += std::int64_t{first} * 256;
        part.images.out += first * shape.rows * shape.row_values();
        const dim3 grid(cuda::blocks(shape.columns, job.strip.windows), static_cast<unsigned>(shape.rows),
                        static_cast<unsigned>(count));
        spread_kernel<<<grid, spread_threads, spread_memory_bytes(job.strip.px, images.ring.bins), stream.handle()>>>(
            part);
    });
}

}  // namespace framewire
