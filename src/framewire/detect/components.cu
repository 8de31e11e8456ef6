#include "framewire/cuda/kernel.cuh"
#include "framewire/detect/components.hpp"

#include <cstdint>
#include <limits>

// Union-find whose root is the smallest node of its tree. Many threads unite at the same
// time: a parent only ever becomes smaller, by an atomic minimum, and a thread that finds its root already
// joined continues from there (Komura 2015; Playne and Hawick 2018).

namespace framewire::labelling {

/// Table with one number per run of a tile, in shared memory, indexed by slot. Lanes are rows; the exclusive or
/// spreads a column of slots over the memory banks.
struct RunTable {
    std::uint32_t* numbers;

    __device__ std::uint32_t& operator[](std::uint32_t slot) const {
        static_assert(tile_words * word_slots == 64);
        return numbers[slot ^ slot >> 6];
    }
};

/// Forest of the runs of one tile. Parents are read atomically too, so that no plain access races with another
/// thread; in shared memory that costs no more than a load.
struct RunForest : RunTable {
    __device__ std::uint32_t parent(std::uint32_t slot) const { return atomicOr(&(*this)[slot], 0u); }
    /// Makes `to` the parent if it is smaller than the previous parent, which is returned.
    __device__ std::uint32_t lower(std::uint32_t slot, std::uint32_t to) const { return atomicMin(&(*this)[slot], to); }
};

/// Forest of the components of one frame's tiles, in global memory.
struct TileForest {
    TileComponent* components;

    // Reads through L2 (__ldcg), because other blocks change parents by atomics, which bypass L1.
    __device__ std::uint32_t parent(std::uint32_t index) const { return __ldcg(&components[index].parent); }
    __device__ std::uint32_t lower(std::uint32_t index, std::uint32_t to) const {
        return atomicMin(&components[index].parent, to);
    }
};

/// Walks to the root of a node while trees are being joined, and halves the path on the way.
template <class Forest>
struct RootWalk {
    std::uint32_t node, parent;

    __device__ RootWalk(const Forest& forest, std::uint32_t from) : node(from), parent(forest.parent(from)) {}
    __device__ bool at_root() const { return node == parent; }
    /// Returns the grandparent, which is the target of a step.
    __device__ std::uint32_t next(const Forest& forest) const { return at_root() ? node : forest.parent(parent); }
    // Moves to the parent. `next`, the parent's parent, also becomes the parent of the node just left.
    __device__ void step(const Forest& forest, std::uint32_t next) {
        if (next != parent) forest.lower(node, next);
        node = parent;
        parent = next;
    }
};

/// Makes the root of `node` its parent and returns the root; `parent` is the current parent. Requires that all trees
/// have been joined, and one thread per node. Each node on the path becomes the parent for a while, so threads on the
/// same path shorten it for each other.
template <class Forest>
__device__ std::uint32_t settle(const Forest& forest, std::uint32_t node, std::uint32_t parent) {
    if (parent == node) return node;
    for (auto next = forest.parent(parent); next != parent; next = forest.parent(parent)) {
        forest.lower(node, next);
        parent = next;
    }
    return parent;
}

/// Replaces a and b by their roots. Both walks proceed in parallel, so that neither waits for the other's
/// loads.
template <class Forest>
__device__ void walk_to_roots(const Forest& forest, std::uint32_t& a, std::uint32_t& b) {
    RootWalk of_a(forest, a), of_b(forest, b);
    while (!of_a.at_root() || !of_b.at_root()) {
        const auto next_of_a = of_a.next(forest), next_of_b = of_b.next(forest);
        of_a.step(forest, next_of_a);
        of_b.step(forest, next_of_b);
    }
    a = of_a.node;
    b = of_b.node;
}

/// Joins the trees of a and b; the larger root gets the smaller one as its parent.
template <class Forest>
__device__ void unite(const Forest& forest, std::uint32_t a, std::uint32_t b) {
    while (true) {
        walk_to_roots(forest, a, b);
        if (a == b) return;
        const auto upper = max(a, b), lower = min(a, b);
        const auto before = forest.lower(upper, lower);
        if (before == upper) return;
        a = before;  // no longer a root: the tree that it joined meanwhile must be united too
        b = lower;
    }
}

inline constexpr std::uint32_t all_lanes = ~0u;

/// Groups the lanes of a warp that add to the same place. Calls together(lanes, member), in all lanes, for up to 4
/// places that at least 3 lanes want, and alone() in the other lanes that want one. Atomics on one address are
/// serialised, so lanes should add up their values first; but if every lane has a different place, grouping costs
/// more than it saves.
template <class Together, class Alone>
__device__ void for_each_group(bool wants, std::uint32_t place, Together&& together, Alone&& alone) {
    constexpr int most_groups = 4, fewest_lanes = 3;
    auto waiting = __ballot_sync(all_lanes, wants), single = 0u;
    for (int group = 0; group < most_groups && waiting; ++group) {
        const auto place_of_group = __shfl_sync(all_lanes, place, lowest_bit(waiting));
        const bool member = wants && place == place_of_group;
        const auto lanes = __ballot_sync(all_lanes, member);
        waiting &= ~lanes;
        if (__popc(lanes) < fewest_lanes)
            single |= lanes;
        else
            together(lanes, member);
    }
    if ((waiting | single) >> threadIdx.x % 32 & 1) alone();
}

}  // namespace framewire::labelling

// First step of the CUDA labelling. Each block labels the runs of one tile in shared
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

/// Statistics of a tile's components, for as many components at a time as the block has threads. A tile has at most
/// 4096 pixels, so `area_sum_y` has room for the area above the sum of y, which is below 2^16.
struct TileSums {
    std::uint32_t first[tile_threads];  ///< slot of the component's root in the tile
    std::uint32_t min_x[tile_threads], max_x[tile_threads], max_y[tile_threads], sum_x[tile_threads];
    std::uint32_t area_sum_y[tile_threads];

    // Resets the entry at `at` to neutral values.
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
    std::uint32_t row, column;  ///< position of the lane's word in the tile
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

/// Attaches each run to the first run above that it is linked to or, if there is none, to the run on its left. Every
/// lane sets the parents of its own runs only, so there is no race. Removes the links that it used from `links`.
/// Returns true if the link to the left is still open.
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

/// Adds one run per lane, or none, to the sums at `at`. Lanes with the same destination combine their runs first.
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

/// Labels one tile per block. If `all_slots` is set, stores the number of every run, for label images, and otherwise
/// only the numbers of runs at the edges.
template <bool eight, bool all_slots>
__global__ void __launch_bounds__(tile_threads) label_tiles(TileJob job) {
    __shared__ SharedTile shared;
    const auto frame = blockIdx.x / job.grid.tiles(), tile = blockIdx.x % job.grid.tiles();
    const auto lane = load_lane(job, frame, tile);
    auto& summary = job.workspace.summaries[blockIdx.x];
    const auto bands = bands_in_frame(job.grid);
    if (threadIdx.x == 0 && tile < bands) job.workspace.band_counts[frame * bands + tile] = 0;
    // Most tiles of a quiet camera are empty, and their blocks end here.
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

    // The outer columns of the tile, one bit per row, for joining it with its neighbours.
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

// Second and third step of the CUDA labelling: tiles are joined where they touch, and
// their statistics are added up at the roots.

namespace framewire::labelling {

/// Addresses of one frame of a job.
struct Frame {
    const std::uint32_t* mask;
    TileComponent* components;
    const TileSummary* summaries;
    const std::uint16_t* slots;

    // `most` is the number of components that a tile has memory for.
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

/// Returns the tile component on the tile's own side of a link or, if `other`, on the neighbour's side.
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

/// Joins tiles with their neighbours, one warp per tile. First one lane per edge and direction lists the links,
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
        // If several lanes have the same pair of components, only one of them unites the pair.
        const auto same = __match_any_sync(all_lanes, std::uint64_t{own} << 32 | other);
        if (own != other && lowest_bit(same) == static_cast<int>(lane)) unite(forest, own, other);
    }
}

/// Adds tiles' components to their roots, one warp per tile.
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
        // Adds to the root with atomics in global memory.
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

// Fourth step of the CUDA labelling. Each band of rows numbers the roots that begin in
// it and lists those whose area is allowed.
//
//     1. set a bit per root in shared memory, by slot, i.e. in raster order
//     2. scan the words of bits: number of roots before each word of the band
//     3. look back over the previous bands: number of roots before the band
//     4. number = roots before the band + before the word + before the bit

namespace framewire::labelling {

inline constexpr int number_threads = 256;
inline constexpr int number_warps = number_threads / 32;

/// Parameters and destination of the lists.
struct ListJob {
    std::uint32_t min_area, max_area;
    ComponentLists<MemorySpace::device> lists;
    bool keep_ids;  // keeps components' ids, for label images
};

/// A look-back word has two counts of 31 bits, of one band or of all bands up to it: all components in the lower
/// half, listed components in the upper half. label_tiles() clears the words.
inline constexpr int counts_shift = 31;

/// Shared memory of number_roots().
struct SharedBand {
    std::uint32_t all[band_words], listed[band_words];  // one bit per slot: components that begin there
    // Counts before a word of the band: listed components from bit 16 up, all components below.
    std::uint32_t before[band_words];
    cuda::BlockScan<std::uint32_t, number_warps> counts;
    unsigned long long bands_before;
};

/// Number of lanes that process the components of one tile together. Tiles usually have few components, so processing
/// many tiles at once, rather than many components of one tile, keeps the number of dependent loads low.
inline constexpr int lanes_per_tile = 16;

/// Calls body(root, slot) for every root that begins in the band, in any of the tiles that the band crosses. A
/// component begins in the first row of tiles that it touches, and so does its root, which is its tile
/// component with the lowest index.
template <bool eight, class Body>
__device__ void for_each_root(const TileJob& job, const Frame& frame, std::uint32_t band, Body&& body) {
    const auto rows = rows_in_band(job.grid);
    const auto band_slots = rows * job.grid.row_words * word_slots;
    const auto first_tile = band * rows / tile_rows * job.grid.columns;
    for (auto tile = first_tile + threadIdx.x / lanes_per_tile; tile < first_tile + job.grid.columns;
         tile += number_threads / lanes_per_tile)
        for (auto number = threadIdx.x % lanes_per_tile; number < frame.summaries[tile].components;
             number += lanes_per_tile) {
            const auto index = tile * most_in_tile(eight) + number;
            auto& component = frame.components[index];
            if (component.parent == index && component.first / band_slots == band)
                body(component, component.first - band * band_slots);
        }
}

/// Numbers and lists the roots, one block per band. Consecutive blocks are in different frames, so that neighbouring
/// bands rarely wait for each other.
template <bool eight>
__global__ void __launch_bounds__(number_threads) number_roots(TileJob job, ListJob list, std::uint32_t frames) {
    __shared__ SharedBand shared;
    const auto frame_index = blockIdx.x % frames, band = blockIdx.x / frames;
    const Frame frame(job, frame_index, most_in_tile(eight));
    for (auto word = threadIdx.x; word < band_words; word += number_threads) shared.all[word] = shared.listed[word] = 0;
    __syncthreads();
    const auto is_listed = [&](std::uint32_t area) { return area >= list.min_area && area <= list.max_area; };
    for_each_root<eight>(job, frame, band, [&](const TileComponent& root, std::uint32_t slot) {
        atomicOr(&shared.all[slot / 32], 1u << slot % 32);
        if (is_listed(root.area)) atomicOr(&shared.listed[slot / 32], 1u << slot % 32);
    });
    __syncthreads();

    // Each thread adds up the counts of some words; the block scans the sums.
    constexpr std::uint32_t words_each = band_words / number_threads;
    const auto counts_of = [&](std::uint32_t word) {
        return static_cast<std::uint32_t>(__popc(shared.listed[word]) << 16 | __popc(shared.all[word]));
    };
    const auto first_word = words_each * threadIdx.x, warp = threadIdx.x / 32;
    std::uint32_t own = 0;
    for (std::uint32_t word = first_word; word < first_word + words_each; ++word) own += counts_of(word);
    const auto in_warp = shared.counts.begin(own);
    __syncthreads();
    auto [before, in_band] = shared.counts.end(in_warp);
    for (std::uint32_t word = first_word; word < first_word + words_each; ++word) {
        shared.before[word] = before;
        before += counts_of(word);
    }

    const auto bands = bands_in_frame(job.grid);
    if (warp == 0) {
        auto* states = job.workspace.band_counts + std::uint64_t{frame_index} * bands;
        // One look-back carries both counts.
        const auto alone = static_cast<unsigned long long>(in_band >> 16) << counts_shift | (in_band & 0xFFFFu);
        const cuda::LookBack all_bands(states, cuda::ClearedTiles{});
        const auto all_before = all_bands.sum_before(band, alone);
        if (threadIdx.x == 0) {
            if (band == bands - 1) {
                list.lists.total[frame_index] = static_cast<std::int32_t>((all_before + alone) & 0x7FFFFFFFu);
                list.lists.found[frame_index] = static_cast<std::int32_t>((all_before + alone) >> counts_shift);
            }
            shared.bands_before = all_before;
        }
    }
    __syncthreads();
    const auto all_before = static_cast<std::uint32_t>(shared.bands_before & 0x7FFFFFFFu);
    const auto listed_before = static_cast<std::uint32_t>(shared.bands_before >> counts_shift);
    for_each_root<eight>(job, frame, band, [&](TileComponent& root, std::uint32_t slot) {
        const auto lower = (1u << slot % 32) - 1;
        const auto counts = shared.before[slot / 32];
        const auto id =
            all_before + (counts & 0xFFFFu) + static_cast<std::uint32_t>(__popc(shared.all[slot / 32] & lower)) + 1;
        const auto place =
            listed_before + (counts >> 16) + static_cast<std::uint32_t>(__popc(shared.listed[slot / 32] & lower));
        if (is_listed(root.area) && place < static_cast<std::uint32_t>(list.lists.capacity)) {
            const auto y = root.first / (job.grid.row_words * word_slots);
            list.lists.components[std::uint64_t{frame_index} * list.lists.capacity + place] = {
                static_cast<std::int32_t>(id),
                static_cast<std::int32_t>(root.min_x),
                static_cast<std::int32_t>(y),
                static_cast<std::int32_t>(root.max_x - root.min_x + 1),
                static_cast<std::int32_t>(root.max_y - y + 1),
                static_cast<std::int32_t>(root.area),
                static_cast<std::int64_t>(root.sum_x),
                static_cast<std::int64_t>(root.sum_y)};
        }
        if (list.keep_ids) root.area = id;
    });
}

}  // namespace framewire::labelling

// Connected components on the GPU in four launches per batch, and a fifth for label images:
//
//     label_tiles      each tile on its own, in shared memory
//     join_tiles       unites components across tile edges
//     gather_at_roots  adds statistics up at the roots
//     number_roots     numbers and lists the components
//     write_labels     optional

namespace framewire {
namespace labelling {
namespace {

// Writes label images, one block per tile. First each lane looks up the ids of the runs in its word, then each thread
// writes four pixels at a time.
template <bool eight>
__global__ void __launch_bounds__(tile_threads) write_labels(TileJob job, std::int32_t* labels, bool aligned) {
    // One row more than needed, so that columns start in different banks.
    __shared__ std::uint32_t words[tile_words][tile_rows + 1];
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
}  // namespace labelling

void ComponentLabelling::run(DeviceBitMaskView<const std::uint32_t> mask,
                             const ComponentLists<MemorySpace::device>& lists,
                             LabelImages<MemorySpace::device> images) {
    require(mask.data(), mask.shape(), lists.capacity, images.labels);
    using namespace labelling;
    const bool eight = parameters_.connectivity == 8;
    const TileJob job{mask.data(), static_cast<std::uint32_t>(shape_.width), static_cast<std::uint32_t>(shape_.height),
                      TileGrid(shape_), TileWorkspace(workspace_.data(), shape_, eight)};
    const ListJob list{static_cast<std::uint32_t>(parameters_.min_area),
                       static_cast<std::uint32_t>(parameters_.max_area), lists, parameters_.label_images};
    (eight ? run_all<true> : run_all<false>)(job, list, static_cast<std::uint32_t>(shape_.frames), images.labels,
                                             executor_->stream());
}

}  // namespace framewire
