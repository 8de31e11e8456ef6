#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/detect/labelling/component_joins.cuh"
#include "framewire/detect/labelling/component_lists.cuh"
#include "framewire/detect/labelling/component_tiles.cuh"
#include "framewire/detect/labelling/components.hpp"

#include <cstdint>

// Connected components on the GPU in four launches per batch, and a fifth for label images:
//
//     label_tiles      component_tiles.cuh  each tile on its own, in shared memory
//     join_tiles       component_joins.cuh  unites components across tile edges
//     gather_at_roots  component_joins.cuh  adds statistics up at the roots
//     number_roots     component_lists.cuh  numbers and lists the components
//     write_labels     here                 optional

namespace framewire {
namespace labelling {
namespace components_kernels {
namespace {

// One block per tile. First each lane looks up the ids of the runs in its word, then each thread writes four
// pixels at a time.
template <bool eight>
__global__ void __launch_bounds__(tile_threads) write_labels(TileJob job, std::int32_t* labels, bool aligned) {
    __shared__ std::uint32_t words[tile_words][tile_rows + 1];  // one more, so that columns start in different banks
    __shared__ std::uint32_t ids_of_runs[tile_slots];
    const RunTable ids{ids_of_runs};
    const auto frame_index = blockIdx.x / job.grid.tiles(), tile = blockIdx.x % job.grid.tiles();
    const Frame frame(job, frame_index, most_in_tile(eight));
    const auto lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto tile_y = tile / job.grid.columns * tile_rows, tile_x = tile % job.grid.columns * tile_words;
    const auto mine =
        tile_y + lane < job.height ? frame.mask[std::uint64_t{tile_y + lane} * job.grid.row_words + tile_x + warp] : 0;
    words[warp][lane] = mine;
    for (auto rest = mine; rest; rest &= ~lowest_run(rest)) {
        const auto slot = (lane * tile_words + warp) * word_slots + static_cast<std::uint32_t>(lowest_bit(rest)) / 2;
        const auto index = tile * most_in_tile(eight) + frame.slots[std::uint64_t{tile} * tile_slots + slot];
        ids[slot] = frame.components[frame.components[index].parent].area;
    }
    __syncthreads();

    const auto column = lane / 8, bit = lane % 8 * 4, x = tile_x * 32 + lane * 4;
    if (x >= job.width) return;
    const auto below_left = 0xFFFFFFFFu >> (30 - bit), below_right = 0xFFFFFFFFu >> (28 - bit);
    auto* out = labels + (std::uint64_t{frame_index} * job.height + tile_y + warp) * job.width + x;
#pragma unroll
    for (std::uint32_t row = warp; row < tile_rows; row += tile_words, out += std::uint64_t{tile_words} * job.width) {
        if (tile_y + row >= job.height) return;
        const auto word = words[column][row], pixels = word >> bit & 15;
        int4 four{};
        if (pixels) {
            // At most one run covers any of two adjacent pixels: the last run that begins at or before the second one.
            const auto begins = word & ~(word << 1);
            const auto id_below = [&](std::uint32_t below) {
                const auto slot = static_cast<std::uint32_t>(highest_bit(begins & below)) / 2 % word_slots;
                return static_cast<std::int32_t>(ids[(row * tile_words + column) * word_slots + slot]);
            };
            const auto left = id_below(below_left), right = id_below(below_right);
            four = {pixels & 1 ? left : 0, pixels & 2 ? left : 0, pixels & 4 ? right : 0, pixels & 8 ? right : 0};
        }
        if (aligned) {
            *reinterpret_cast<int4*>(out) = four;
        } else {
            const std::int32_t each[4] = {four.x, four.y, four.z, four.w};
            for (int pixel = 0; pixel < 4; ++pixel)
                if (x + pixel < job.width) out[pixel] = each[pixel];
        }
    }
}

// Queues all launches of a batch.
template <bool eight>
void run_all(const TileJob& job, const ListJob& list, std::uint32_t frames, std::int32_t* labels,
             const cuda::Stream& stream) {
    const auto tiles = job.grid.tiles();
    constexpr std::uint32_t warps_each = warp_per_tile_threads / 32;
    const auto warps = cuda::parts(tiles, warps_each) * frames;
    if (labels)
        cuda::Launch(stream, frames * tiles, tile_threads)(label_tiles<eight, true>, job);
    else
        cuda::Launch(stream, frames * tiles, tile_threads)(label_tiles<eight, false>, job);
    cuda::Launch(stream, warps, warp_per_tile_threads)(join_tiles<eight>, job);
    cuda::Launch(stream, warps, warp_per_tile_threads)(gather_at_roots<eight>, job);
    cuda::Launch(stream, frames * bands_in_frame(job.grid), number_threads)(number_roots<eight>, job, list, frames);
    if (!labels) return;
    const bool aligned = job.width % 4 == 0 && reinterpret_cast<std::uintptr_t>(labels) % 16 == 0;
    cuda::Launch(stream, frames * tiles, tile_threads)(write_labels<eight>, job, labels, aligned);
}

}  // namespace
}  // namespace components_kernels
}  // namespace labelling

void ComponentLabelling::run(DeviceBitMaskView<const std::uint32_t> mask,
                             const ComponentLists<MemorySpace::device>& lists,
                             LabelImages<MemorySpace::device> images) {
    require(mask.data(), mask.shape(), lists.capacity, images.labels);
    using namespace labelling;
    using namespace components_kernels;
    const bool eight = parameters_.connectivity == 8;
    const TileJob job{mask.data(), static_cast<std::uint32_t>(shape_.width), static_cast<std::uint32_t>(shape_.height),
                      TileGrid(shape_), TileWorkspace(workspace_.data(), shape_, eight)};
    const ListJob list{static_cast<std::uint32_t>(parameters_.min_area),
                       static_cast<std::uint32_t>(parameters_.max_area), lists, parameters_.label_images};
    (eight ? run_all<true> : run_all<false>)(job, list, static_cast<std::uint32_t>(shape_.frames), images.labels,
                                             executor_->stream());
}

}  // namespace framewire
