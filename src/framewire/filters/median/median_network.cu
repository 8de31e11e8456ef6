#include "framewire/cuda/check.hpp"
#include "framewire/filters/median/median_device.cuh"
#include "framewire/filters/median/median_tile.hpp"

#include <cstdint>

namespace framewire {
namespace {

#define MEDIAN_NETWORK __device__ __forceinline__
#define MEDIAN_SIZES_FROM 5
#define MEDIAN_LOOP _Pragma("unroll 1")
#define MEDIAN_SIZES_UP_TO 15
#include "median_networks.inc"

// A block of threads covers two halves, one below the other: a thread has the same tile in both, in the two halves of
// its pairs. A row of threads has tiles side by side, of one channel each; the two threads that three channels leave
// over compute what nobody stores.
template <int size_, int tile_width_, int tile_height_, int channels_>
struct Layout {
    static constexpr int size = size_, tile_width = tile_width_, tile_height = tile_height_, channels = channels_;
    // The longest networks are longer than the instruction cache: large blocks go through them in step.
    static constexpr int threads_y = size >= 13 ? 4 : 8 / tile_height, row_threads = 64,
                         threads = row_threads * threads_y;
    // On a multiprocessor: as many as leave each thread the registers it needs.
    static constexpr int min_blocks = size >= 13 ? 1 : size == 11 ? 3 : size == 7 ? 5 : 4;
    static constexpr int threads_x = row_threads / channels * channels;  // that have tiles
    static constexpr int half_height = threads_y * tile_height;
    static constexpr int out_bytes = threads_x * tile_width;  // of a row
    static constexpr int rows = half_height + size - 1;       // of pairs
    // Of a row of pairs: with the border, from an address divisible by four on.
    static constexpr int words = (out_bytes + (size - 1) * channels + 3 + 3) / 4;
    static_assert(out_bytes % 4 == 0, "blocks begin at whole words");
    static_assert(rows * words * 16 + 2 * half_height * out_bytes <= 47 * 1024, "of shared memory");
};

// Two rows' words as pairs of their bytes, each in both bytes of its half.
__device__ uint4 pairs_of(std::uint32_t low, std::uint32_t high) {
    return {__byte_perm(low, high, 0x4400), __byte_perm(low, high, 0x5511), __byte_perm(low, high, 0x6622),
            __byte_perm(low, high, 0x7733)};
}

template <class L>
__device__ void load_pairs(const MedianImages& images, const std::uint8_t* frame, int first_column, int first_row,
                           Border border, bool aligned, uint4* pairs) {
    const bool inside = aligned && first_row >= 0 && first_row + L::half_height + L::rows <= images.height &&
                        first_column >= 0 && first_column + L::words * 4 <= images.width * L::channels;
    if (inside) {
        const auto* words = frame + first_row * images.in_row_stride + first_column;
        const auto half_stride = L::half_height * images.in_row_stride;
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < L::rows * L::words; i += L::threads) {
            const auto* at = words + i / L::words * images.in_row_stride + i % L::words * 4;
            pairs[i] = pairs_of(__ldg(reinterpret_cast<const std::uint32_t*>(at)),
                                __ldg(reinterpret_cast<const std::uint32_t*>(at + half_stride)));
        }
    } else {
        const auto row = [&](int y) {
            const int from = border_index(y, images.height, border);
            return from < 0 ? nullptr : frame + from * images.in_row_stride;
        };
        const auto load = [&](int y, int column) {
            return load_word(row(y), column, images.width, L::channels, border, aligned);
        };
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < L::rows * L::words; i += L::threads) {
            const int y = first_row + i / L::words, column = first_column + i % L::words * 4;
            pairs[i] = pairs_of(load(y, column), load(y + L::half_height, column));
        }
    }
}

template <class L>
__device__ void store_result(const MedianImages& images, std::uint8_t* frame, const std::uint32_t* result, int column,
                             int first_row, bool aligned) {
    constexpr int words = L::out_bytes / 4;
    static_assert(words <= L::row_threads, "a word of a row each");
    const int word = static_cast<int>(threadIdx.x) % L::row_threads, x = column + 4 * word;
    const int row_bytes = images.width * L::channels;
    if (word >= words || x >= row_bytes) return;
    const int rows = min(2 * L::half_height, images.height - first_row);
    for (int y = static_cast<int>(threadIdx.x) / L::row_threads; y < rows; y += L::threads_y) {
        auto* out = frame + (first_row + y) * images.out_row_stride + x;
        const auto medians = result[y * words + word];
        if (aligned && x + 4 <= row_bytes) {
            *reinterpret_cast<std::uint32_t*>(out) = medians;
        } else {
            for (int byte = 0; byte < min(4, row_bytes - x); ++byte)
                out[byte] = static_cast<std::uint8_t>(medians >> (8 * byte));
        }
    }
}

template <class L>
__global__ void __launch_bounds__(L::threads, L::min_blocks)
    network_median(MedianImages images, Border border, bool in_aligned, bool out_aligned, PairOrder order) {
    __shared__ uint4 pairs[L::rows * L::words];
    __shared__ std::uint32_t result[2 * L::half_height * L::out_bytes / 4];
    const int column = static_cast<int>(blockIdx.x) * L::out_bytes;  // of the result, in bytes
    const int row = static_cast<int>(blockIdx.y) * 2 * L::half_height;
    const int border_column = column - L::size / 2 * L::channels;
    const int first_column = border_column & ~3;
    load_pairs<L>(images, images.in + blockIdx.z * images.in_frame_stride, first_column, row - L::size / 2, border,
                  in_aligned, pairs);
    __syncthreads();

    const int index = min(static_cast<int>(threadIdx.x) % L::row_threads, L::threads_x - 1),
              first_y = static_cast<int>(threadIdx.x) / L::row_threads * L::tile_height;
    const int tile_column = index / L::channels * L::tile_width * L::channels + index % L::channels;
    const auto* tile =
        reinterpret_cast<const Pair*>(pairs) + first_y * L::words * 4 + tile_column + (border_column - first_column);
    auto* tile_result = reinterpret_cast<std::uint8_t*>(result) + first_y * L::out_bytes + tile_column;
    const auto load = [tile](int x, int y) { return tile[y * L::words * 4 + x * L::channels]; };
    const auto store = [tile_result](int x, int y, Pair median) {
        auto* at = tile_result + y * L::out_bytes + x * L::channels;
        at[0] = static_cast<std::uint8_t>(median);
        at[L::half_height * L::out_bytes] = static_cast<std::uint8_t>(median >> 16);
    };
    median_network(MedianTile<L::size, L::tile_width, L::tile_height>{}, order, load, store);

    __syncthreads();
    store_result<L>(images, images.out + blockIdx.z * images.out_frame_stride, result, column, row, out_aligned);
}

template <class L>
void launch(const MedianImages& images, Border border, cudaStream_t stream) {
    const auto blocks = [](int whole, int each) { return static_cast<unsigned>((whole + each - 1) / each); };
    const dim3 grid(blocks(images.width * L::channels, L::out_bytes), blocks(images.height, 2 * L::half_height),
                    static_cast<unsigned>(images.frames));
    network_median<L><<<grid, L::threads, 0, stream>>>(
        images, border, aligned_to(4, images.in, images.in_row_stride, images.in_frame_stride),
        aligned_to(4, images.out, images.out_row_stride, images.out_frame_stride), PairOrder{});
    cuda::check_launch();
}

template <int size, int tile_width, int tile_height>
void launch_for_channels(const MedianImages& images, Border border, cudaStream_t stream) {
    if (images.channels == 3)
        launch<Layout<size, tile_width, tile_height, 3>>(images, border, stream);
    else
        launch<Layout<size, tile_width, tile_height, 1>>(images, border, stream);
}

}  // namespace

void network_median_on_device(const MedianImages& images, int size, Border border, cudaStream_t stream) {
    switch (size) {
        case 5: return launch_for_channels<5, 4, 2>(images, border, stream);
        case 7: return launch_for_channels<7, 4, 4>(images, border, stream);
        case 9: return launch_for_channels<9, 4, 4>(images, border, stream);
        case 11: return launch_for_channels<11, 4, 4>(images, border, stream);
        case 13: return launch_for_channels<13, 4, 4>(images, border, stream);
        case 15: return launch_for_channels<15, 4, 4>(images, border, stream);
    }
}

}  // namespace framewire
