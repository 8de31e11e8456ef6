#include "framewire/cuda/check.hpp"
#include "framewire/filters/median/median_device.cuh"
#include "framewire/filters/median/median_tile.hpp"

#include <cstdint>

namespace framewire {
namespace {

#define MEDIAN_NETWORK __device__ __forceinline__
#define MEDIAN_SIZES_FROM 5
#define MEDIAN_SIZES_UP_TO 15
#include "median_networks.inc"

// A block of threads covers two halves, one below the other: a thread has the same tile in both, in the two halves of
// its pairs. Its rows are as wide as a row of threads has tiles of one channel each.
template <int size_, int tile_width_, int tile_height_>
struct Layout {
    static constexpr int size = size_, tile_width = tile_width_, tile_height = tile_height_;
    static constexpr int threads_x = 64;
    static constexpr int threads_y = size <= 5 ? 4 : 2;
    static constexpr int threads = threads_x * threads_y;
    static constexpr int half_height = threads_y * tile_height;
    static constexpr int out_bytes = threads_x * tile_width;  // of a row, at most
    static constexpr int rows = half_height + size - 1;       // of pairs
    // Of a row of pairs: with the border, from an address divisible by four on.
    static constexpr int words = (out_bytes + (size - 1) * 3 + 3 + 3) / 4;
    static_assert(2 * half_height * out_bytes <= rows * words * 16, "the result takes the place of the pairs");
    static_assert(rows * words * 16 <= 46 * 1024, "of shared memory");
    static_assert(tile_width % 4 == 0, "blocks begin at whole words");
};

// With three channels one thread of a row is left over.
__host__ __device__ constexpr int tiles_of(int threads_x, int channels) { return threads_x / channels; }

template <class L>
__device__ void load_pairs(const MedianImages& images, const std::uint8_t* frame, int first_column, int first_row,
                           Border border, bool aligned, uint4* pairs) {
    __shared__ const std::uint8_t* rows[L::rows][2];
    for (int i = static_cast<int>(threadIdx.x); i < 2 * L::rows; i += L::threads) {
        const int y = border_index(first_row + i / 2 + i % 2 * L::half_height, images.height, border);
        rows[i / 2][i % 2] = y < 0 ? nullptr : frame + y * images.in_row_stride;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < L::rows * L::words; i += L::threads) {
        const int row = i / L::words, column = first_column + i % L::words * 4;
        const auto low = load_word(rows[row][0], column, images.width, images.channels, border, aligned);
        const auto high = load_word(rows[row][1], column, images.width, images.channels, border, aligned);
        pairs[i] = {__byte_perm(low, high, 0x4400), __byte_perm(low, high, 0x5511), __byte_perm(low, high, 0x6622),
                    __byte_perm(low, high, 0x7733)};
    }
    __syncthreads();
}

template <class L>
__device__ void store_result(const MedianImages& images, std::uint8_t* frame, const std::uint8_t* result, int column,
                             int end_column, int first_row, bool aligned) {
    constexpr int words = L::out_bytes / 4;
    for (int i = static_cast<int>(threadIdx.x); i < 2 * L::half_height * words; i += L::threads) {
        const int y = first_row + i / words, x = column + i % words * 4;
        if (y >= images.height || x >= end_column) continue;
        auto* out = frame + y * images.out_row_stride + x;
        if (aligned && x + 4 <= end_column) {
            *reinterpret_cast<std::uint32_t*>(out) = reinterpret_cast<const std::uint32_t*>(result)[i];
        } else {
            for (int byte = 0; byte < min(4, end_column - x); ++byte) out[byte] = result[4 * i + byte];
        }
    }
}

template <class L>
__global__ void __launch_bounds__(L::threads)
    network_median(MedianImages images, Border border, bool in_aligned, bool out_aligned, PairOrder order) {
    __shared__ uint4 shared[L::rows * L::words];
    const int channels = images.channels, tiles = tiles_of(L::threads_x, channels);
    const int block_bytes = tiles * L::tile_width * channels;
    const int column = static_cast<int>(blockIdx.x) * block_bytes;  // of the result, in bytes
    const int row = static_cast<int>(blockIdx.y) * 2 * L::half_height;
    const int border_column = column - L::size / 2 * channels;
    const int first_column = border_column & ~3;
    load_pairs<L>(images, images.in + blockIdx.z * images.in_frame_stride, first_column, row - L::size / 2, border,
                  in_aligned, shared);

    const int index = static_cast<int>(threadIdx.x) % L::threads_x,
              tile_row = static_cast<int>(threadIdx.x) / L::threads_x;
    // Where the thread's tile begins in a row of the block; the thread left over computes what it does not store.
    const int tile = min(index / channels, tiles - 1);
    const int tile_column = tile * L::tile_width * channels + index % channels;
    const auto* pairs = reinterpret_cast<const Pair*>(shared) + tile_row * L::tile_height * L::words * 4 + tile_column +
                        (border_column - first_column);
    const auto load = [pairs, channels](int x, int y) { return pairs[y * L::words * 4 + x * channels]; };
    Pair medians[L::tile_height][L::tile_width];
    const auto store = [&medians](int x, int y, Pair median) { medians[y][x] = median; };
    median_network(MedianTile<L::size, L::tile_width, L::tile_height>{}, order, load, store);

    __syncthreads();
    auto* result = reinterpret_cast<std::uint8_t*>(shared);
    if (index < tiles * channels)
        for (int y = 0; y < L::tile_height; ++y)
            for (int x = 0; x < L::tile_width; ++x) {
                auto* at = result + (tile_row * L::tile_height + y) * L::out_bytes + tile_column + x * channels;
                at[0] = static_cast<std::uint8_t>(medians[y][x] >> 8);
                at[L::half_height * L::out_bytes] = static_cast<std::uint8_t>(medians[y][x] >> 24);
            }
    __syncthreads();
    store_result<L>(images, images.out + blockIdx.z * images.out_frame_stride, result, column,
                    min(column + block_bytes, images.width * channels), row, out_aligned);
}

template <class L>
void launch(const MedianImages& images, Border border, cudaStream_t stream) {
    const auto blocks = [](int whole, int each) { return static_cast<unsigned>((whole + each - 1) / each); };
    const dim3 grid(blocks(images.width, tiles_of(L::threads_x, images.channels) * L::tile_width),
                    blocks(images.height, 2 * L::half_height), static_cast<unsigned>(images.frames));
    network_median<L><<<grid, L::threads, 0, stream>>>(
        images, border, aligned_to(4, images.in, images.in_row_stride, images.in_frame_stride),
        aligned_to(4, images.out, images.out_row_stride, images.out_frame_stride), PairOrder{});
    cuda::check_launch();
}

}  // namespace

void network_median_on_device(const MedianImages& images, int size, Border border, cudaStream_t stream) {
    switch (size) {
        case 5: return launch<Layout<5, 4, 2>>(images, border, stream);
        case 7: return launch<Layout<7, 4, 4>>(images, border, stream);
        case 9: return launch<Layout<9, 4, 4>>(images, border, stream);
        case 11: return launch<Layout<11, 4, 4>>(images, border, stream);
        case 13: return launch<Layout<13, 4, 4>>(images, border, stream);
        case 15: return launch<Layout<15, 4, 4>>(images, border, stream);
    }
}

}  // namespace framewire
