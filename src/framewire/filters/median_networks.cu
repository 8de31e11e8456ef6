#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/kernel.cuh"
#include "framewire/filters/median.cuh"
#include "framewire/filters/median_networks.hpp"

#include <cstdint>

// Code shared by the kernels of median networks: blocks of tiles, loading them to shared memory, and storing their
// results.

namespace framewire {

/// A block of threads covers two halves, one below the other:
///
///   upper half   tile of thread t -> lower 16 bits of its pairs
///   lower half   tile of thread t -> upper 16 bits of its pairs
///
/// so that every comparison handles two tiles. A row of threads has adjacent tiles, each of one channel. With three
/// channels, two threads of a row remain; their results are discarded. Rows of the image, with their border and
/// `more_px` further columns on both sides, are stored as rows of pairs.
template <int size_, int tile_width_, int tile_height_, int channels_, int more_px = 0>
struct TileBlock {
    static constexpr int size = size_, tile_width = tile_width_, tile_height = tile_height_, channels = channels_;
    /// Threads per row of tiles: two warps.
    static constexpr int row_threads = 64;
    static constexpr int threads_x = row_threads / channels * channels;  // threads with tiles, per row
    static constexpr int out_bytes = threads_x * tile_width;             // bytes per row of results
    /// Words per row of results.
    static constexpr int out_words = out_bytes / 4;
    /// Bytes that windows read on either side of the results.
    static constexpr int border_bytes = (size / 2 + more_px) * channels;
    static constexpr int words =
        (out_bytes + 2 * border_bytes + 3 + 3) / 4;  // words in a row of pairs, rounded out to whole words
    static constexpr int row_pairs = 4 * words;      ///< pairs per row
    static_assert(out_bytes % 4 == 0, "blocks must begin at a word boundary");
    static_assert(out_words <= row_threads, "each thread writes one word of a row");

    /// Rows of threads in the block.
    int threads_y;

    /// Returns the number of threads in the block.
    FRAMEWIRE_HOST_DEVICE constexpr int threads() const { return row_threads * threads_y; }
    /// Returns the number of rows of results in one half.
    FRAMEWIRE_HOST_DEVICE constexpr int half_height() const { return threads_y * tile_height; }
    /// Returns the number of rows of pairs in shared memory.
    FRAMEWIRE_HOST_DEVICE constexpr int rows() const { return half_height() + size - 1; }
    /// Returns the bytes of shared memory for the pairs.
    FRAMEWIRE_HOST_DEVICE constexpr int pairs_bytes() const { return rows() * words * 16; }
    /// Returns the bytes of shared memory for the results.
    FRAMEWIRE_HOST_DEVICE constexpr int result_bytes() const { return 2 * half_height() * out_bytes; }
};

/// Combines words of two rows into pairs of their bytes. A value is stored in both bytes of its half.
__device__ inline uint4 pairs_of(std::uint32_t low, std::uint32_t high) {
    return {__byte_perm(low, high, 0x4400), __byte_perm(low, high, 0x5511), __byte_perm(low, high, 0x6622),
            __byte_perm(low, high, 0x7733)};
}

/// A block at its position in the image.
template <class Block>
class PlacedTiles {
public:
    /// Places the calling block according to its index in the grid.
    __device__ PlacedTiles(const MedianImages& images, const Block& block)
        : images_(images),
          block_(block),
          column_(static_cast<int>(blockIdx.x) * Block::out_bytes),
          row_(static_cast<int>(blockIdx.y) * 2 * block.half_height()),
          first_column_((column_ - Block::border_bytes) & ~3) {}

    /// Returns the column of a row of pairs at which the border of the block's first pixel starts.
    __device__ int border_column() const { return column_ - Block::size / 2 * Block::channels - first_column_; }

    /// Loads the pairs of the block. A thread has `at_once` words of both halves in flight at the same time.
    template <int at_once>
    __device__ void load(Border border, bool aligned, uint4* pairs) const {
        const auto* frame = images_.in.data + blockIdx.z * images_.in.frame_stride;
        const int first_row = row_ - Block::size / 2, count = block_.rows() * Block::words;
        // Most blocks lie inside the image and need no border.
        const bool inside = aligned && first_row >= 0 &&
                            first_row + block_.half_height() + block_.rows() <= images_.height && first_column_ >= 0 &&
                            first_column_ + Block::row_pairs <= images_.width * Block::channels;
        if (inside) {
            const auto* words = frame + first_row * images_.in.row_stride + first_column_;
            const auto half_stride = block_.half_height() * images_.in.row_stride;
#pragma unroll 1
            for (int first = static_cast<int>(threadIdx.x); first < count; first += at_once * block_.threads()) {
                std::uint32_t low[at_once], high[at_once];
#pragma unroll
                for (int turn = 0; turn < at_once; ++turn) {
                    const auto i = static_cast<unsigned>(min(first + turn * block_.threads(), count - 1));
                    const auto* at = words + i / Block::words * images_.in.row_stride + i % Block::words * 4;
                    low[turn] = __ldg(reinterpret_cast<const std::uint32_t*>(at));
                    high[turn] = __ldg(reinterpret_cast<const std::uint32_t*>(at + half_stride));
                }
#pragma unroll
                for (int turn = 0; turn < at_once; ++turn) {
                    const int i = first + turn * block_.threads();
                    if (i < count) pairs[i] = pairs_of(low[turn], high[turn]);
                }
            }
        } else {
            const auto word = [&](int y, int column) {
                const int from = border_index(y, images_.height, border);
                const auto* row = from < 0 ? nullptr : frame + from * images_.in.row_stride;
                return load_word(row, column, images_.width, Block::channels, border, aligned);
            };
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x); i < count; i += block_.threads()) {
                const int y = first_row + i / Block::words, column = first_column_ + i % Block::words * 4;
                pairs[i] = pairs_of(word(y, column), word(y + block_.half_height(), column));
            }
        }
    }

    /// Stores the block's results to the image.
    __device__ void store(const std::uint32_t* result, bool aligned) const {
        auto* frame = images_.out.data + blockIdx.z * images_.out.frame_stride;
        const int word = static_cast<int>(threadIdx.x) % Block::row_threads, x = column_ + 4 * word;
        const int row_bytes = images_.width * Block::channels;
        if (word >= Block::out_words || x >= row_bytes) return;
        const int rows = min(2 * block_.half_height(), images_.height - row_);
        for (int y = static_cast<int>(threadIdx.x) / Block::row_threads; y < rows; y += block_.threads_y) {
            auto* out = frame + (row_ + y) * images_.out.row_stride + x;
            const auto medians = result[y * Block::out_words + word];
            if (aligned && x + 4 <= row_bytes) {
                *reinterpret_cast<std::uint32_t*>(out) = medians;
            } else {
                for (int byte = 0; byte < min(4, row_bytes - x); ++byte)
                    out[byte] = static_cast<std::uint8_t>(medians >> (8 * byte));
            }
        }
    }

private:
    const MedianImages& images_;
    const Block& block_;
    int column_, row_;  // position of the result; the column is in bytes
    int first_column_;  // first column stored in the pairs
};

/// A thread's tile in its block: reads the pairs of its footprint and stores its medians.
template <class Block>
class Tile {
public:
    /// Selects the calling thread's tile. `pairs` starts at the column where the border of the block's first pixel
    /// starts.
    __device__ Tile(const Block& block, const Pair* pairs, std::uint8_t* result)
        : index_(min(static_cast<int>(threadIdx.x) % Block::row_threads, Block::threads_x - 1)),
          row_(static_cast<int>(threadIdx.x) / Block::row_threads),
          pairs_(pairs + row_ * Block::tile_height * Block::row_pairs + column()),
          result_(result + row_ * Block::tile_height * Block::out_bytes + column()),
          half_bytes_(block.half_height() * Block::out_bytes) {}

    /// Returns the index of the tile in its row.
    __device__ int index() const { return index_; }
    /// Returns the row of tiles that contains the tile.
    __device__ int row() const { return row_; }

    /// Returns the pair at (x, y) of the footprint.
    __device__ Pair load(int x, int y) const { return pairs_[y * Block::row_pairs + x * Block::channels]; }
    /// Stores the medians at (x, y) of both tiles.
    __device__ void store(int x, int y, Pair median) const {
        auto* at = result_ + y * Block::out_bytes + x * Block::channels;
        at[0] = static_cast<std::uint8_t>(median);
        at[half_bytes_] = static_cast<std::uint8_t>(median >> 16);
    }

private:
    // Returns the byte of the tile's first pixel in a row of the block.
    __device__ int column() const {
        return index_ / Block::channels * Block::tile_width * Block::channels + index_ % Block::channels;
    }

    int index_, row_;  // position of the tile in the block
    const Pair* pairs_;
    std::uint8_t* result_;
    int half_bytes_;
};

/// Returns a grid that covers the images with blocks.
template <class Block>
dim3 grid_of(const MedianImages& images, const Block& block) {
    return {cuda::blocks(images.width * Block::channels, Block::out_bytes),
            cuda::blocks(images.height, 2 * block.half_height()), static_cast<unsigned>(images.frames)};
}

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

// Medians of sizes 5 and 7 by networks without strips; one thread per tile and channel.
template <int size, int tile_width, int tile_height, int channels>
struct Layout {
    using Block = TileBlock<size, tile_width, tile_height, channels>;
    static constexpr Block block{8 / tile_height};
    // Number of blocks per multiprocessor: as many as leave each thread the registers that it needs.
    static constexpr int min_blocks = size == 7 ? 5 : 4;
    // Number of words that each thread loads, all in flight at the same time.
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

// Tile sizes must be those of print_networks.cpp, which generates the networks.
void network_median_on_device(const MedianImages& images, int size, Border border, const cuda::Stream& stream) {
    using namespace median_network_kernels;
    switch (size) {
        case 5: return launch_for_channels<5, 4, 2>(images, border, stream);
        case 7: return launch_for_channels<7, 4, 4>(images, border, stream);
    }
}

}  // namespace framewire

// Medians of sizes 9 to 15. Adjacent tiles share sorted strips of columns, each sorted by one thread:
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

constexpr int side = 4;  // side of a tile in pixels

template <int size_, int channels_>
struct Layout {
    static constexpr int size = size_, channels = channels_;
    // Strips start at columns -1, 3, 7 ... of a tile's footprint. The footprint ends within a strip that belongs to a
    // later tile.
    static constexpr int strips_behind = (size - 1) / side, more_px = (strips_behind + 1) * side - size;
    using Block = TileBlock<size, side, side, channels, more_px>;
    // The warps of a large block run through the long code together, which saves fetching it repeatedly. Blocks are as
    // large as possible while each thread has the registers it needs.
    static constexpr Block largest{size == 11 ? 6 : 4};
    static constexpr int min_blocks = size == 9 ? 2 : 1;
    static constexpr int words_at_once = cuda::parts(largest.rows() * Block::words, largest.threads());

    // Rows that all windows of a tile have in common, and pixels of a strip.
    static constexpr int strip_height = size - side + 1, strip_pixels = side * strip_height;
    static constexpr int strips_x = Block::threads_x + (1 + strips_behind) * channels;  // strips per row
    // Values of one row of strips: the sorted columns of each strip, and all of its values sorted. Values of equal rank
    // are adjacent.
    static constexpr int row_values = 2 * strip_pixels * strips_x;

    // Returns the bytes of shared memory of a block.
    static constexpr int shared_bytes(const Block& block) {
        return block.pairs_bytes() + block.threads_y * row_values * static_cast<int>(sizeof(Pair)) +
               block.result_bytes();
    }
    // Returns the largest block that fits.
    static Block block_for(int most_shared_bytes) {
        auto block = largest;
        // Two rows of threads are four warps, one per scheduler.
        while (block.threads_y > 1 && shared_bytes(block) > most_shared_bytes)
            block.threads_y -= block.threads_y > 2 ? 2 : 1;
        return block;
    }
};
static_assert(Layout<15, 3>::shared_bytes({1}) <= cuda::least_block_shared_bytes &&
              Layout<15, 1>::shared_bytes({1}) <= cuda::least_block_shared_bytes);

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

// Computes medians in four phases with barriers between them: loads pairs, sorts strips, runs the networks, stores.
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
    // For a column of the footprint, these return the number of its strip, counted from the first one, and its column
    // there.
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

// Raises the shared memory limit of the kernel for this size.
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
