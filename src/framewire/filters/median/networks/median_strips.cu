#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/filters/median/networks/median_tile.hpp"
#include "framewire/filters/median/networks/median_tiles.cuh"

#include <cstdint>

// Medians of the sizes 9 to 15. Adjacent tiles share sorted strips of columns, each sorted by one thread:
//
//   sort_strips()      pairs -> sorted columns and strips
//   median_network()   pairs, columns and strips -> medians of a tile per thread
//
// Everything lies in shared memory.

namespace framewire {
namespace median_strips_kernels {
namespace {

#define MEDIAN_NETWORK __device__ __forceinline__
#define MEDIAN_SIZES_FROM 9
#define MEDIAN_LOOP _Pragma("unroll 1")
#define MEDIAN_SIZES_UP_TO 15
#include "median_networks.inc"
#undef MEDIAN_SIZES_UP_TO
#undef MEDIAN_LOOP
#undef MEDIAN_SIZES_FROM
#undef MEDIAN_NETWORK

constexpr int side = 4;  // of a tile, in pixels

template <int size_, int channels_>
struct Layout {
    static constexpr int size = size_, channels = channels_;
    // Strips start at columns -1, 3, 7 ... of a tile's footprint. The footprint ends within a strip behind the tile's
    // own.
    static constexpr int strips_behind = (size - 1) / side, more_px = (strips_behind + 1) * side - size;
    using Block = TileBlock<size, side, side, channels, more_px>;
    // Large blocks run through the long code in step, which saves fetching it repeatedly. They are as large as leaves
    // each thread the registers it needs.
    static constexpr Block largest{size == 11 ? 6 : 4};
    static constexpr int min_blocks = size == 9 ? 2 : 1;
    static constexpr int words_at_once = cuda::parts(largest.rows() * Block::words, largest.threads());

    // Rows that all windows of a tile have in common, and pixels of a strip.
    static constexpr int strip_height = size - side + 1, strip_pixels = side * strip_height;
    static constexpr int strips_x = Block::threads_x + (1 + strips_behind) * channels;  // per row
    // Values of one row of strips: of each strip its sorted columns and the sorted whole. Values of equal rank are
    // adjacent.
    static constexpr int row_values = 2 * strip_pixels * strips_x;

    // Shared memory of a block.
    static constexpr int shared_bytes(const Block& block) {
        return block.pairs_bytes() + block.threads_y * row_values * static_cast<int>(sizeof(Pair)) +
               block.result_bytes();
    }
    // The largest block that fits.
    static Block block_for(int most_shared_bytes) {
        auto block = largest;
        // Two rows of threads are four warps, one per scheduler.
        while (block.threads_y > 1 && shared_bytes(block) > most_shared_bytes)
            block.threads_y -= block.threads_y > 2 ? 2 : 1;
        return block;
    }
};
// The smallest amount of shared memory among supported GPUs.
static_assert(Layout<15, 3>::shared_bytes({1}) <= 64 * 1024 && Layout<15, 1>::shared_bytes({1}) <= 64 * 1024);

// Sorts the strips of all tiles of the block into `strips`.
template <class L>
__device__ void sort_strips(const typename L::Block& block, const Pair* pairs, Pair* strips, const PairOrder& order) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < L::strips_x * block.threads_y; i += block.threads()) {
        const int row = i / L::strips_x, at = i % L::strips_x;
        const auto* from = pairs + (row * side + side - 1) * L::Block::row_pairs +
                           (at / L::channels * side - 1) * L::channels + at % L::channels;
        auto* to = strips + row * L::row_values + at;
        median_strip(
            MedianTile<L::size, side, side>{}, order,
            [&](int x, int y) { return from[y * L::Block::row_pairs + x * L::channels]; },
            [&](int x, int rank, Pair value) { to[(x * L::strip_height + rank) * L::strips_x] = value; },
            [&](int rank, Pair value) { to[(L::strip_pixels + rank) * L::strips_x] = value; });
    }
}

// Load pairs, sort strips, run the networks, store: four phases with barriers between them.
template <class L>
__global__ void __launch_bounds__(L::largest.threads(), L::min_blocks)
    strip_median(MedianImages images, Border border, bool in_aligned, bool out_aligned, PairOrder order) {
    extern __shared__ uint4 shared[];
    using Block = typename L::Block;
    const Block block{static_cast<int>(blockDim.x) / Block::row_threads};
    auto* strips = reinterpret_cast<Pair*>(shared + block.pairs_bytes() / 16);
    auto* result = strips + block.threads_y * L::row_values;
    const PlacedTiles<Block> place(images, block);
    const auto* pairs = reinterpret_cast<const Pair*>(shared) + place.border_column();
    place.template load<L::words_at_once>(border, in_aligned, shared);
    __syncthreads();
    sort_strips<L>(block, pairs, strips, order);
    __syncthreads();

    const Tile<Block> tile(block, pairs, reinterpret_cast<std::uint8_t*>(result));
    const auto* of_tile = strips + tile.row() * L::row_values + tile.index();
    // For a column of the footprint: the number of its strip, counted from the first one, and its column there.
    const auto strip_of = [](int x) { return (x + 1) / side; };
    const auto in_strip = [](int x) { return (x + 1) % side; };
    median_network(
        MedianTile<L::size, side, side>{}, order, [&](int x, int y) { return tile.load(x, y); },
        [&](int x, int rank) {
            return of_tile[(in_strip(x) * L::strip_height + rank) * L::strips_x + strip_of(x) * L::channels];
        },
        [&](int x, int rank) { return of_tile[(L::strip_pixels + rank) * L::strips_x + strip_of(x) * L::channels]; },
        [&](int x, int y, Pair median) { tile.store(x, y, median); });
    __syncthreads();
    place.store(result, out_aligned);
}

// Launches the largest block that fits the shared memory.
template <class L>
void launch(const MedianImages& images, Border border, int most_shared_bytes, const cuda::Stream& stream) {
    const auto block = L::block_for(most_shared_bytes);
    cuda::Launch(stream, grid_of(images, block), block.threads(), static_cast<std::size_t>(L::shared_bytes(block)))(
        strip_median<L>, images, border, images.in.aligned_to(4), images.out.aligned_to(4), PairOrder{});
}

// Calls use(Layout) with the layout for a size and a number of channels.
template <class Use>
void with_layout(int size, int channels, Use&& use) {
    const auto of_size = [&]<int of>() { channels == 3 ? use(Layout<of, 3>{}) : use(Layout<of, 1>{}); };
    switch (size) {
        case 9: return of_size.template operator()<9>();
        case 11: return of_size.template operator()<11>();
        case 13: return of_size.template operator()<13>();
        case 15: return of_size.template operator()<15>();
    }
}

}  // namespace
}  // namespace median_strips_kernels

// Raises the limit of the instance for this size.
void allow_strip_median(int size, int channels) {
    using namespace median_strips_kernels;
    with_layout(size, channels, [](auto layout) { cuda::allow_shared_memory(strip_median<decltype(layout)>); });
}

void strip_median_on_device(const MedianImages& images, int size, Border border, int shared_bytes,
                            const cuda::Stream& stream) {
    using namespace median_strips_kernels;
    with_layout(size, images.channels,
                [&](auto layout) { launch<decltype(layout)>(images, border, shared_bytes, stream); });
}

}  // namespace framewire
