#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/filters/median/networks/median_tile.hpp"
#include "framewire/filters/median/networks/median_tiles.cuh"

#include <cstdint>

namespace framewire {
namespace median_network_kernels {
namespace {

#define MEDIAN_NETWORK __device__ __forceinline__
#define MEDIAN_SIZES_FROM 5
#define MEDIAN_LOOP _Pragma("unroll 1")
#define MEDIAN_SIZES_UP_TO 7
#include "median_networks.inc"
#undef MEDIAN_SIZES_UP_TO
#undef MEDIAN_LOOP
#undef MEDIAN_SIZES_FROM
#undef MEDIAN_NETWORK

// Medians of the sizes 5 and 7 by networks without strips; one thread per tile and channel.
template <int size, int tile_width, int tile_height, int channels>
struct Layout {
    using Block = TileBlock<size, tile_width, tile_height, channels>;
    static constexpr Block block{8 / tile_height};
    // Blocks per multiprocessor: as many as leave each thread the registers it needs.
    static constexpr int min_blocks = size == 7 ? 5 : 4;
    // Words that each thread loads, all in flight together.
    static constexpr int words_at_once = cuda::parts(block.rows() * Block::words, block.threads());
    static_assert(block.pairs_bytes() + block.result_bytes() <= 47 * 1024, "of shared memory");
};

// Loads pairs, runs the network, and collects the medians in shared memory, so that rows are stored in whole words.
template <class L>
__global__ void __launch_bounds__(L::block.threads(), L::min_blocks)
    network_median(MedianImages images, Border border, bool in_aligned, bool out_aligned, PairOrder order) {
    using Block = typename L::Block;
    constexpr Block block = L::block;
    __shared__ uint4 pairs[block.pairs_bytes() / 16];
    __shared__ std::uint32_t result[block.result_bytes() / 4];
    const PlacedTiles<Block> place(images, block);
    place.template load<L::words_at_once>(border, in_aligned, pairs);
    __syncthreads();
    const Tile<Block> tile(block, reinterpret_cast<const Pair*>(pairs) + place.border_column(),
                           reinterpret_cast<std::uint8_t*>(result));
    median_network(
        MedianTile<Block::size, Block::tile_width, Block::tile_height>{}, order,
        [&](int x, int y) { return tile.load(x, y); }, [&](int x, int y, Pair median) { tile.store(x, y, median); });
    __syncthreads();
    place.store(result, out_aligned);
}

// Launches one layout.
template <class L>
void launch(const MedianImages& images, Border border, const cuda::Stream& stream) {
    cuda::Launch(stream, grid_of(images, L::block), L::block.threads())(
        network_median<L>, images, border, images.in.aligned_to(4), images.out.aligned_to(4), PairOrder{});
}

template <int size, int tile_width, int tile_height>
void launch_for_channels(const MedianImages& images, Border border, const cuda::Stream& stream) {
    if (images.channels == 3)
        launch<Layout<size, tile_width, tile_height, 3>>(images, border, stream);
    else
        launch<Layout<size, tile_width, tile_height, 1>>(images, border, stream);
}

}  // namespace
}  // namespace median_network_kernels

// Tile sizes as in print_networks.cpp, which generates the networks for them.
void network_median_on_device(const MedianImages& images, int size, Border border, const cuda::Stream& stream) {
    using namespace median_network_kernels;
    switch (size) {
        case 5: return launch_for_channels<5, 4, 2>(images, border, stream);
        case 7: return launch_for_channels<7, 4, 4>(images, border, stream);
    }
}

}  // namespace framewire
