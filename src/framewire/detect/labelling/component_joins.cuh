#pragma once

#include "framewire/detect/labelling/component_tiles.cuh"

#include <cstdint>

// Only for .cu files: the second and third step of the CUDA labelling. Tiles are joined where they touch, and
// their statistics are added up at the roots.

namespace framewire::labelling {

/// Addresses of one frame of a job.
struct Frame {
    const std::uint32_t* mask;
    TileComponent* components;
    const TileSummary* summaries;
    const std::uint16_t* slots;

    // `most` is the room for components per tile.
    __device__ Frame(const TileJob& job, std::uint32_t frame, std::uint32_t most)
        : mask(job.mask + std::uint64_t{frame} * job.height * job.grid.row_words),
          components(job.workspace.components + std::uint64_t{frame} * job.grid.tiles() * most),
          summaries(job.workspace.summaries + std::uint64_t{frame} * job.grid.tiles()),
          slots(job.workspace.slots + std::uint64_t{frame} * job.grid.tiles() * tile_slots) {}
};

inline constexpr int warp_per_tile_threads = 128;

/// For kernels with one warp per tile: the tile of the calling warp, if there is one.
struct WarpTile {
    std::uint32_t frame, tile;
    __device__ explicit WarpTile(const TileGrid& grid) {
        constexpr auto warps = std::uint32_t{warp_per_tile_threads / 32};
        const auto blocks = (grid.tiles() + warps - 1) / warps;
        frame = blockIdx.x / blocks;
        tile = blockIdx.x % blocks * warps + threadIdx.x / 32;
    }
};

/// A tile has five edges to join: the four words of its first row, and its first column. The pixels of the
/// column relate to the column beside it as those of a row relate to the row above:
///
///          word 0   word 1   word 2   word 3      joined with the row above
///        +--------+--------+--------+--------+
///     c  |                                   |
///     o  |   a tile, 32 rows of 4 words      |
///     l  |                                   |
inline constexpr std::uint32_t tile_edges = tile_words + 1;

/// Returns the links across one edge of a tile, none at the border of the image.
template <bool eight>
__device__ Links links_of_edge(const TileJob& job, const Frame& frame, std::uint32_t tile, std::uint32_t edge) {
    const auto column = tile % job.grid.columns, y = tile / job.grid.columns * tile_rows;
    if (edge < tile_words && y > 0) {
        const auto x = column * tile_words + edge;
        const auto* row = frame.mask + std::uint64_t{y} * job.grid.row_words + x;
        const auto* row_above = row - job.grid.row_words;
        const bool first = x == 0, last = x + 1 == job.grid.row_words;
        return links_up<eight>({first ? 0 : row[-1], row[0], last ? 0 : row[1]},
                               {first ? 0 : row_above[-1], row_above[0], last ? 0 : row_above[1]});
    }
    if (edge == tile_words && column > 0)
        return links_up<eight>({0, frame.summaries[tile].left, 0}, {0, frame.summaries[tile - 1].right, 0});
    return {};
}

/// A link across the edge of a tile.
struct EdgeLink {
    std::uint8_t edge, bit;
    std::int8_t shift;
};

/// Returns the tile component on the tile's own side of a link, or on the other side.
template <bool eight>
__device__ std::uint32_t component_at(const TileJob& job, const Frame& frame, std::uint32_t tile, const EdgeLink& link,
                                      bool other) {
    auto x = tile % job.grid.columns * tile_words, y = tile / job.grid.columns * tile_rows;
    int bit = 0;
    if (link.edge < tile_words) {
        const int pixel = other ? link.bit + link.shift : link.bit;
        x += link.edge + (pixel >> 5);
        y -= other;
        bit = pixel & 31;
    } else {
        y += other ? link.bit + link.shift : link.bit;
        x -= other;
        bit = other ? 31 : 0;
    }
    const auto begin = run_begin(frame.mask[std::uint64_t{y} * job.grid.row_words + x], bit);
    const auto owner = y / tile_rows * job.grid.columns + x / tile_words;
    const auto slot = (y % tile_rows * tile_words + x % tile_words) * word_slots + begin / 2;
    return owner * most_in_tile(eight) + frame.slots[std::uint64_t{owner} * tile_slots + slot];
}

/// One warp per tile joins the tile with its neighbours. First one lane per edge and direction lists the links,
/// then one lane per link unites the components.
template <bool eight>
__global__ void __launch_bounds__(warp_per_tile_threads) join_tiles(TileJob job) {
    constexpr std::uint32_t directions = 3, most_links = tile_edges * directions * word_slots;
    static_assert(tile_edges * directions <= 32);
    __shared__ EdgeLink shared_links[warp_per_tile_threads / 32][most_links];
    auto* listed = shared_links[threadIdx.x / 32];
    const WarpTile at(job.grid);
    if (at.tile >= job.grid.tiles()) return;
    const Frame frame(job, at.frame, most_in_tile(eight));
    const auto lane = threadIdx.x % 32, edge = lane % tile_edges, direction = lane / tile_edges;

    std::uint32_t mine = 0;
    if (direction < directions) {
        const auto links = links_of_edge<eight>(job, frame, at.tile, edge);
        mine = direction == 0 ? links.up : direction == 1 ? links.up_left : links.up_right;
    }
    const auto own_count = static_cast<std::uint32_t>(__popc(mine));
    const auto up_to_lane = cuda::inclusive_warp_sum(own_count), count = __shfl_sync(all_lanes, up_to_lane, 31);
    for (auto place = up_to_lane - own_count; mine; mine &= mine - 1, ++place)
        listed[place] = {static_cast<std::uint8_t>(edge), static_cast<std::uint8_t>(lowest_bit(mine)),
                         static_cast<std::int8_t>(direction == 0   ? 0
                                                  : direction == 1 ? -1
                                                                   : 1)};
    __syncwarp();

    const TileForest forest{frame.components};
    for (std::uint32_t first = 0; first < count; first += 32) {
        std::uint32_t own = 0, other = 0;
        if (first + lane < count) {
            const auto link = listed[first + lane];
            own = component_at<eight>(job, frame, at.tile, link, false);
            other = component_at<eight>(job, frame, at.tile, link, true);
        }
        // If several lanes have the same pair of components, one of them unites it.
        const auto same = __match_any_sync(all_lanes, std::uint64_t{own} << 32 | other);
        if (own != other && lowest_bit(same) == static_cast<int>(lane)) unite(forest, own, other);
    }
}

/// One warp per tile adds the tile's components to their roots.
template <bool eight>
__global__ void __launch_bounds__(warp_per_tile_threads) gather_at_roots(TileJob job) {
    const WarpTile at(job.grid);
    if (at.tile >= job.grid.tiles()) return;
    const Frame frame(job, at.frame, most_in_tile(eight));
    const TileForest forest{frame.components};
    const auto count = frame.summaries[at.tile].components;
    for (std::uint32_t first = 0; first < count; first += 32) {
        const auto number = first + threadIdx.x % 32, index = at.tile * most_in_tile(eight) + number;
        TileComponent part{};
        auto root = index;
        if (number < count) {
            const auto parent = forest.parent(index);
            if (parent != index) part = frame.components[index];  // loaded while the root is searched for
            root = settle(forest, index, parent);
        }
        // Roots collect by atomics in global memory.
        const auto add = [&](const TileComponent& sum) {
            auto& whole = frame.components[root];
            atomicMin(&whole.first, sum.first);
            atomicMin(&whole.min_x, sum.min_x);
            atomicMax(&whole.max_x, sum.max_x);
            atomicMax(&whole.max_y, sum.max_y);
            atomicAdd(&whole.area, sum.area);
            atomicAdd(&whole.sum_x, sum.sum_x);
            atomicAdd(&whole.sum_y, sum.sum_y);
        };
        for_each_group(
            root != index, root,
            [&](std::uint32_t lanes, bool member) {
                // The sums over one tile fit 32 bits.
                TileComponent sum;
                sum.first = ~cuda::warp_max(member ? ~part.first : 0);
                sum.min_x = ~cuda::warp_max(member ? ~part.min_x : 0);
                sum.max_x = cuda::warp_max(member ? part.max_x : 0);
                sum.max_y = cuda::warp_max(member ? part.max_y : 0);
                sum.area = cuda::warp_sum(member ? part.area : 0);
                sum.sum_x = cuda::warp_sum(member ? static_cast<std::uint32_t>(part.sum_x) : 0);
                sum.sum_y = cuda::warp_sum(member ? static_cast<std::uint32_t>(part.sum_y) : 0);
                if (member && lowest_bit(lanes) == static_cast<int>(threadIdx.x % 32)) add(sum);
            },
            [&] { add(part); });
    }
}

}  // namespace framewire::labelling
