#include "framewire/cuda/kernel.cuh"
#include "framewire/hog/hog.cuh"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/spread.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

using hog_kernels::vote_of;

// Spread votes on the GPU. A block of threads handles adjacent windows, and each thread one histogram of one window.
// Pixels are processed row by row:
//
//     for each row of pixels: all threads compute the row's votes -> shared memory
//                             each thread adds those of its window, weighted, to its histogram

static_assert(hog_most_block * hog_most_block <= hog_spread_threads);
static_assert(spread_memory_bytes(spread_strip(hog_most_block, hog_most_block, hog_most_cell, hog_most_bins).px,
                                  hog_most_bins) <= 48 * 1024,
              "every GPU allows 48 KiB of shared memory per block");

// A pixel's vote in the form in which threads read it.
struct alignas(16) PixelVote {
    float first, second;
    int slot, unused;
};

// Returns the place of a strip pixel's vote within its group of eight. Threads that read pixels 8 apart, as those of
// windows with small cells do, then use different banks.
__device__ int place_of(int pixel) { return pixel ^ (pixel >> 3 & 7); }

// Arguments of spread_kernel().
struct SpreadJob {
    SpreadImages images;
    const float* weights;
    int before, cells, targets;
    SpreadStrip strip;
    SpreadAxis::Span spans[hog_most_block];  // range of pixels of each target
    SpreadAxis::Span rows;                   // rows with votes for any target
};

// Computes one histogram per thread. Skips rows of pixels that are outside the image or have no weight for any target.
__global__ void __launch_bounds__(hog_spread_threads) spread_kernel(SpreadJob job) {
    extern __shared__ float2 sums[];  // slots x threads
    const auto& images = job.images;
    const auto& shape = images.shape;
    const int bins = images.ring.bins, slots = bins + 1, cell = images.cell;
    auto* votes = reinterpret_cast<PixelVote*>(sums + slots * hog_spread_threads);
    auto* table = reinterpret_cast<std::uint8_t*>(votes + spread_votes(job.strip.px));
    const auto frame = std::int64_t{blockIdx.z};
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < 64; i += hog_spread_threads)
        reinterpret_cast<std::uint32_t*>(table)[i] =
            reinterpret_cast<const std::uint32_t*>(images.tables + frame * 256)[i];
    for (int slot = 0; slot < slots; ++slot) sums[slot * hog_spread_threads + thread] = {};

    const int targets = job.targets * job.targets, window = thread / targets, target = thread % targets;
    const int first_window = static_cast<int>(blockIdx.x) * job.strip.windows, window_y = static_cast<int>(blockIdx.y);
    const bool has_window = window < job.strip.windows && first_window + window < shape.columns;
    const int target_y = target / job.targets, target_x = target % job.targets;
    const int first_x = (first_window - job.before) * cell, first_y = (window_y - job.before) * cell;
    const int whole_width = images.columns * cell, whole_height = images.rows * cell, side = job.cells * cell;
    const auto rows = job.spans[target_y], columns = job.spans[target_x];
    const auto* weights_x = job.weights + target_x * side;
    const auto plane_bytes = images.height * images.row_stride_bytes;
    const auto* gray = images.gray + frame * images.planes * plane_bytes;
    for (int row = max(job.rows.begin, -first_y); row < job.rows.end && first_y + row < whole_height; ++row) {
        const int y = first_y + row;
        const auto line = [&](int at) {
            return gray + std::int64_t{min(max(at, 0), images.height - 1)} * images.row_stride_bytes;
        };
        const auto *above = line(y - 1), *here = line(y), *below = line(y + 1);
        __syncthreads();
        for (int i = thread; i < job.strip.px; i += hog_spread_threads) {
            const int x = first_x + i;
            if (x < 0 || x >= whole_width) {
                votes[place_of(i)] = {};
                continue;
            }
            const auto of = [&](const std::uint8_t* from, std::int64_t at) {
                return static_cast<int>(table[from[at]]);
            };
            // The plane with the longest gradient votes; of equal ones, the last.
            int gx = 0, gy = 0;
            for (int plane = images.planes - 1; plane >= 0; --plane) {
                const auto at = plane * plane_bytes;
                const int across = of(here, at + min(x + 1, images.width - 1)) - of(here, at + max(x - 1, 0));
                const int down = of(below, at + x) - of(above, at + x);
                if (hog_energy(across, down) <= hog_energy(gx, gy)) continue;
                gx = across;
                gy = down;
            }
            const auto vote = vote_of(gx, gy, images.ring);
            votes[place_of(i)] = {vote.first, vote.second, vote.slot, 0};
        }
        __syncthreads();
        if (!has_window || row < rows.begin || row >= rows.end) continue;
        const auto weight_y = job.weights[target_y * side + row];
        for (int x = columns.begin; x < columns.end; ++x) {
            const auto vote = votes[place_of(window * cell + x)];
            const auto weight = weight_y * weights_x[x];
            auto& sum = sums[vote.slot * hog_spread_threads + thread];
            const float2 was = sum;
            sum = {was.x + weight * vote.first, was.y + weight * vote.second};
        }
    }
    if (!has_window) return;
    const auto* own = sums + thread;
    auto* out = images.out + ((frame * shape.rows + window_y) * shape.columns + first_window + window) * shape.values +
                target * bins;
    for (int bin = 0; bin < bins; ++bin) {
        auto value = own[bin * hog_spread_threads].y + own[(bin + 1) * hog_spread_threads].x;
        if (bin == bins - 1) value += own[0].x;
        if (bin == 0) value += own[bins * hog_spread_threads].y;
        out[bin] = value;
    }
}

}  // namespace

// Queues launches for batches of as many frames as fit a grid.
void spread_votes_on_device(const HogSpread& spread, const SpreadImages& images, const cuda::Stream& stream) {
    const auto& axis = spread.axis;
    SpreadJob job{images, spread.weights.as<float>(), axis.before, axis.cells, axis.targets, spread.strip,
                  {},     axis.spans.front()};
    std::ranges::copy(axis.spans, job.spans);
    for (const auto& span : axis.spans)
        job.rows = {std::min(job.rows.begin, span.begin), std::max(job.rows.end, span.end)};
    const auto& shape = images.shape;
    cuda::for_frames(shape.frames, 1, [&](int first, int count) {
        auto part = job;
        part.images.gray += std::int64_t{first} * images.planes * images.height * images.row_stride_bytes;
        part.images.tables += std::int64_t{first} * 256;
        part.images.out += first * shape.rows * shape.row_values();
        const dim3 grid(cuda::blocks(shape.columns, job.strip.windows), static_cast<unsigned>(shape.rows),
                        static_cast<unsigned>(count));
        cuda::Launch(stream, grid, hog_spread_threads, spread_memory_bytes(job.strip.px, images.ring.bins))(
            spread_kernel, part);
    });
}

}  // namespace framewire
