#pragma once

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/detect/labelling/component_forest.cuh"

#include <cstdint>
#include <limits>

// Only for .cu files: the first step of the CUDA labelling. Each block labels the runs of one tile in shared
// memory and adds up its components.
//
//     thread = (row of the tile = lane, word of the row = warp)
//     plant_runs    each run gets a parent: a run above it, else the one to its left, else itself
//     join_runs     unites along the remaining links, with atomics
//     flatten_runs  parent = root; count roots
//     scan          number of each root in the tile, in raster order
//     add_runs      box, area and sums per number, in shared memory

namespace framewire::labelling {

inline constexpr int tile_threads = tile_rows * tile_words;

/// Arguments of all kernels of the labelling.
struct TileJob {
    const std::uint32_t* mask;
    std::uint32_t width, height;
    TileGrid grid;
    TileWorkspace workspace;
};

/// Statistics of the components of a tile, a block's worth at a time. A tile has at most 4096 pixels, so the
/// area fits above the sum of y, which is below 2^16.
struct TileSums {
    std::uint32_t first[tile_threads];  ///< slot in the tile
    std::uint32_t min_x[tile_threads], max_x[tile_threads], max_y[tile_threads], sum_x[tile_threads];
    std::uint32_t area_sum_y[tile_threads];

    // Clears the entry at `at` to neutral values.
    __device__ void clear(std::uint32_t at) {
        min_x[at] = ~0u;
        max_x[at] = max_y[at] = sum_x[at] = area_sum_y[at] = 0;
    }
    // Adds a run, or a group of runs, to the entry at `at`, atomically.
    __device__ void add(std::uint32_t at, std::uint32_t first_x, std::uint32_t last_x, std::uint32_t last_y,
                        std::uint32_t more_sum_x, std::uint32_t more_area_sum_y) {
        atomicMin(&min_x[at], first_x);
        atomicMax(&max_x[at], last_x);
        atomicMax(&max_y[at], last_y);
        atomicAdd(&sum_x[at], more_sum_x);
        atomicAdd(&area_sum_y[at], more_area_sum_y);
    }
};

/// Shared memory of label_tiles().
struct SharedTile {
    std::uint32_t parents[tile_slots];
    TileSums sums;
    cuda::BlockScan<std::uint32_t, tile_words> components;
};

/// The part of a tile that one lane handles: one word of one row.
struct TileLane {
    std::uint32_t row, column;  ///< in the tile
    WordTriple own, above;

    /// Returns the slot of bit `bit` of the lane's word or, if `side` is -1, of the word to its left.
    __device__ std::uint32_t slot(int side, int bit) const {
        return (row * tile_words + column + side) * word_slots + static_cast<std::uint32_t>(bit) / 2;
    }
    /// Returns the slot of the run in the row above that contains pixel `bit`, from -1 to 32.
    __device__ std::uint32_t slot_above(int bit) const {
        const int side = bit >> 5;
        const auto word = side < 0 ? above.left : side > 0 ? above.right : above.word;
        return slot(side, run_begin(word, bit & 31)) - tile_words * word_slots;
    }
};

/// Loads the words of a lane and its neighbours. The row above comes from the lane above, so each word is read
/// once.
__device__ inline TileLane load_lane(const TileJob& job, std::uint32_t frame, std::uint32_t tile) {
    TileLane lane{threadIdx.x % 32, threadIdx.x / 32, {}, {}};
    const auto y = tile / job.grid.columns * tile_rows + lane.row;
    uint4 words{};
    if (y < job.height)
        words =
            *reinterpret_cast<const uint4*>(job.mask + (std::uint64_t{frame} * job.height + y) * job.grid.row_words +
                                            tile % job.grid.columns * tile_words);
    static_assert(tile_words == 4);
    lane.own.left = lane.column == 0 ? 0 : lane.column == 1 ? words.x : lane.column == 2 ? words.y : words.z;
    lane.own.word = lane.column == 0 ? words.x : lane.column == 1 ? words.y : lane.column == 2 ? words.z : words.w;
    lane.own.right = lane.column == 0 ? words.y : lane.column == 1 ? words.z : lane.column == 2 ? words.w : 0;
    lane.above = {__shfl_up_sync(all_lanes, lane.own.left, 1), __shfl_up_sync(all_lanes, lane.own.word, 1),
                  __shfl_up_sync(all_lanes, lane.own.right, 1)};
    if (lane.row == 0) lane.above = {};
    return lane;
}

/// Makes one tree of each run and the first run above that it is linked to, or else of the run and the one to
/// its left. Every lane sets the parents of its own runs only, so there is no race. Removes the links used from
/// `links`. Returns true if the link to the left is still open.
template <bool eight>
__device__ bool plant_runs(const RunForest& forest, const TileLane& lane, Links& links) {
    bool open_left = false;
    for (auto rest = lane.own.word; rest;) {
        const auto run = lowest_run(rest);
        rest ^= run;
        const auto slot = lane.slot(0, lowest_bit(run));
        const bool at_left = (run & 1) && joins_left(lane.own, lane.above);
        const auto linked = links.any() & run;
        auto parent = slot;
        if (linked) {
            const auto bit = lowest_bit(linked);
            const auto shift = links.shift_at(bit);
            parent = lane.slot_above(bit + shift);
            links.remove(bit, shift);
            open_left = open_left || at_left;
        } else if (at_left) {
            parent = lane.slot(-1, run_begin(lane.own.left, 31));
        }
        forest[slot] = parent;
    }
    return open_left;
}

/// Unites along the links that plant_runs() left.
__device__ inline void join_runs(const RunForest& forest, const TileLane& lane, Links links, bool open_left) {
    while (links.any()) {
        const auto bit = lowest_bit(links.any());
        const auto shift = links.shift_at(bit);
        unite(forest, lane.slot(0, run_begin(lane.own.word, bit)), lane.slot_above(bit + shift));
        links.remove(bit, shift);
    }
    if (open_left) unite(forest, lane.slot(0, 0), lane.slot(-1, run_begin(lane.own.left, 31)));
}

/// Sets the parent of every run to its root. Returns the number of roots among the lane's runs.
__device__ inline std::uint32_t flatten_runs(const RunForest& forest, const TileLane& lane) {
    std::uint32_t roots = 0;
    for (auto rest = lane.own.word; rest; rest &= ~lowest_run(rest)) {
        const auto slot = lane.slot(0, lowest_bit(rest));
        roots += settle(forest, slot, forest.parent(slot)) == slot;
    }
    return roots;
}

inline constexpr std::uint32_t numbered = 1u << 31;  // marks a parent that is a number in the tile

/// Adds one run per lane, or none, to the sums at `at`. Lanes with the same destination add up first.
__device__ inline void add_runs(TileSums& sums, const TileLane& lane, std::uint32_t run, std::uint32_t at) {
    const auto area = static_cast<std::uint32_t>(__popc(run));
    const auto x = lane.column * 32;
    const auto area_sum_y = area << 16 | area * lane.row;
    const auto sum_x = run ? (2 * (x + lowest_bit(run)) + area - 1) * area / 2 : 0;
    for_each_group(
        run != 0, at,
        [&](std::uint32_t lanes, bool member) {
            const auto columns = cuda::warp_or(member ? run : 0);
            const auto all_sum_x = cuda::warp_sum(member ? sum_x : 0);
            const auto all_area_sum_y = cuda::warp_sum(member ? area_sum_y : 0);
            if (member && lowest_bit(lanes) == lane.row)
                sums.add(at, x + lowest_bit(columns), x + highest_bit(columns), highest_bit(lanes), all_sum_x,
                         all_area_sum_y);
        },
        [&] { sums.add(at, x + lowest_bit(run), x + highest_bit(run), lane.row, sum_x, area_sum_y); });
}

/// Writes the component whose sums belong to this thread, as the root of its own tree.
__device__ inline void write_component(const TileJob& job, std::uint32_t tile, const TileSums& sums,
                                       std::uint32_t index, TileComponent* components) {
    const auto at = threadIdx.x;
    const auto x = tile % job.grid.columns * tile_width_px, y = tile / job.grid.columns * tile_rows;
    const auto area = sums.area_sum_y[at] >> 16, first = sums.first[at];
    constexpr auto row_slots = std::uint32_t{tile_words * word_slots};
    TileComponent component;
    component.parent = index;
    component.first = (y + first / row_slots) * job.grid.row_words * word_slots + x / 2 + first % row_slots;
    component.min_x = x + sums.min_x[at];
    component.max_x = x + sums.max_x[at];
    component.max_y = y + sums.max_y[at];
    component.area = area;
    component.sum_x = std::uint64_t{area} * x + sums.sum_x[at];
    component.sum_y = std::uint64_t{area} * y + (sums.area_sum_y[at] & 0xFFFFu);
    components[index] = component;
}

/// Labels one tile per block. `all_slots`: store the number of every run, for label images, not only of those
/// at the edges.
template <bool eight, bool all_slots>
__global__ void __launch_bounds__(tile_threads) label_tiles(TileJob job) {
    __shared__ SharedTile shared;
    const auto frame = blockIdx.x / job.grid.tiles(), tile = blockIdx.x % job.grid.tiles();
    const auto lane = load_lane(job, frame, tile);
    auto& summary = job.workspace.summaries[blockIdx.x];
    const auto bands = bands_in_frame(job.grid);
    if (threadIdx.x == 0 && tile < bands) job.workspace.band_counts[frame * bands + tile] = 0;
    // Empty tiles, as most are with a quiet camera, end here.
    if (!__syncthreads_or(lane.own.word != 0)) {
        if (threadIdx.x == 0) summary = {};
        return;
    }
    const RunForest forest{{shared.parents}};
    auto links = links_up<eight>(lane.own, lane.above);
    const bool open_left = plant_runs<eight>(forest, lane, links);
    __syncthreads();
    join_runs(forest, lane, links, open_left);
    __syncthreads();
    const auto roots = flatten_runs(forest, lane);

    // Numbers the roots.
    const auto in_warp = shared.components.begin(roots);
    shared.sums.clear(threadIdx.x);
    __syncthreads();
    auto [number, count] = shared.components.end(in_warp);
    if (roots)
        for (auto rest = lane.own.word; rest; rest &= ~lowest_run(rest)) {
            const auto slot = lane.slot(0, lowest_bit(rest));
            if (forest[slot] == slot) forest[slot] = numbered | number++;
        }
    __syncthreads();

    // The outer columns of the tile, bit by row, for joining it with its neighbours.
    const auto left = __ballot_sync(all_lanes, lane.own.word & 1),
               right = __ballot_sync(all_lanes, lane.own.word >> 31);
    if (threadIdx.x == 0) {
        summary.components = count;
        summary.left = left;
    }
    if (threadIdx.x == tile_threads - 1) summary.right = right;
    const auto base = tile * most_in_tile(eight);
    auto* components = job.workspace.components + std::uint64_t{frame} * job.grid.tiles() * most_in_tile(eight);
    auto* slots = job.workspace.slots + std::uint64_t{blockIdx.x} * tile_slots;
    for (std::uint32_t begin = 0; begin < count; begin += tile_threads) {
        if (begin > 0) {
            shared.sums.clear(threadIdx.x);
            __syncthreads();
        }
        for (auto rest = lane.own.word; __any_sync(all_lanes, rest != 0);) {
            auto run = lowest_run(rest);
            rest ^= run;
            std::uint32_t at = 0;
            if (run) {
                const auto slot = lane.slot(0, lowest_bit(run));
                auto mark = forest[slot];
                const bool is_root = mark & numbered;
                if (!is_root) mark = forest[mark];
                const auto its_number = mark & ~numbered;
                at = its_number - begin;
                if (begin == 0 && (all_slots || lane.row == 0 || lane.row == tile_rows - 1 ||
                                   (lane.column == 0 && (run & 1)) || (lane.column == tile_words - 1 && run >> 31)))
                    slots[slot] = static_cast<std::uint16_t>(its_number);
                if (at >= tile_threads)
                    run = 0;  // handled in another iteration
                else if (is_root)
                    shared.sums.first[at] = slot;
            }
            add_runs(shared.sums, lane, run, at);
        }
        __syncthreads();
        if (begin + threadIdx.x < count)
            write_component(job, tile, shared.sums, base + begin + threadIdx.x, components);
    }
}

}  // namespace framewire::labelling
