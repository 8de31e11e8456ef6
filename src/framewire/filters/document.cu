#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/document.hpp"
#include "framewire/filters/gray_input.cuh"
#include "framewire/filters/kernel.cuh"

#include <cstdint>
#include <type_traits>

// Steps of Document on the GPU; the other steps are those of Gray, Morphology, Median and Binarize.

namespace framewire {
namespace document_kernels {
namespace {

// Threads per block of shrink_kernel and divide_kernel: 32 groups of four columns by 8 rows.
constexpr int columns_per_block = 32, rows_per_block = 8;

// Size of the image and of the image of blocks.
struct Sizes {
    int width, height, blocks_x, blocks_y;
};

// Returns four bytes of a row. Bytes from `pixels` on repeat the last pixel. If `aligned`, `in` is aligned to 4 bytes.
template <bool aligned>
__device__ std::uint32_t load_quad(const std::uint8_t* in, int pixels) {
    if (aligned && pixels >= quad_px) return __ldg(reinterpret_cast<const std::uint32_t*>(in));
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < quad_px; ++i) word |= std::uint32_t{in[min(i, pixels - 1)]} << (8 * i);
    return word;
}

// One thread per block of pixels: writes its largest gray value. Grid: x and y cover the blocks, z is the frame.
template <bool aligned>
__global__ void __launch_bounds__(columns_per_block* rows_per_block)
    shrink_kernel(cuda::KernelImage<const std::uint8_t> gray, cuda::KernelImage<std::uint8_t> blocks, Sizes sizes) {
    const int x = blockIdx.x * columns_per_block + threadIdx.x, y = blockIdx.y * rows_per_block + threadIdx.y;
    const int frame = blockIdx.z;
    if (x >= sizes.blocks_x || y >= sizes.blocks_y) return;
    std::uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < paper_block_px; ++i) {
        const auto* row = gray.row(frame, min(y * paper_block_px + i, sizes.height - 1));
        most = __vmaxu4(most, load_quad<aligned>(row + x * paper_block_px, sizes.width - x * paper_block_px));
    }
    most = __vmaxu4(most, most >> 16);
    most = __vmaxu4(most, most >> 8);
    blocks.row(frame, y)[x] = static_cast<std::uint8_t>(most);
}

// One thread per four pixels of a row, which belong to one block: interpolates their paper from the block and its
// neighbours, and divides. Grid: x and y cover the groups of pixels, z is the frame.
template <bool aligned>
__global__ void __launch_bounds__(columns_per_block* rows_per_block)
    divide_kernel(cuda::KernelImage<const std::uint8_t> gray, cuda::KernelImage<const std::uint8_t> paper,
                  cuda::KernelImage<std::uint8_t> left, Sizes sizes) {
    const int block = blockIdx.x * columns_per_block + threadIdx.x, y = blockIdx.y * rows_per_block + threadIdx.y;
    const int frame = blockIdx.z;
    if (block >= sizes.blocks_x || y >= sizes.height) return;
    const auto neighbour = paper_neighbour(y);
    const int own_y = y / paper_block_px, other_y = min(max(own_y + neighbour.step, 0), sizes.blocks_y - 1);
    const auto *own = paper.row(frame, own_y), *other = paper.row(frame, other_y);
    const auto between = [&](int at) {
        at = min(max(at, 0), sizes.blocks_x - 1);
        return (8 - neighbour.weight) * own[at] + neighbour.weight * other[at];
    };
    const int before = between(block - 1), middle = between(block), after = between(block + 1);
    const int x = block * paper_block_px, pixels = min(sizes.width - x, quad_px);
    const auto values = load_quad<aligned>(gray.row(frame, y) + x, pixels);
    std::uint32_t result = 0;
#pragma unroll
    for (int i = 0; i < quad_px; ++i) {
        const auto beside = paper_neighbour(i);
        const int sum = (8 - beside.weight) * middle + beside.weight * (beside.step < 0 ? before : after);
        const int light = (sum + (1 << (paper_weights_shift - 1))) >> paper_weights_shift;
        result |=
            std::uint32_t{light_left(static_cast<std::uint8_t>(values >> (8 * i)), static_cast<std::uint8_t>(light))}
            << (8 * i);
    }
    auto* out = left.row(frame, y) + x;
    if (aligned && pixels == quad_px) {
        *reinterpret_cast<std::uint32_t*>(out) = result;
    } else {
#pragma unroll
        for (int i = 0; i < quad_px; ++i)
            if (i < pixels) out[i] = static_cast<std::uint8_t>(result >> (8 * i));
    }
}

// ---- Specks ----
//
// A block writes a tile of 8 words (256 pixels) by 32 rows. One bit per pixel, 1 if white:
//
//   white   rows -5 .. 36, words -1 .. 8    the mask; 1 outside the image
//   rings   rows -4 .. 31, words -1 .. 7    1 if the ring of the square that starts here is white
//
// Words -1 and 8 supply the neighbours; only their bits within largest_speck of the tile are correct.

constexpr int word_px = 32;
constexpr int tile_words = 8, tile_rows = 32, tile_px = tile_words * word_px;
constexpr int white_words = tile_words + 2, white_rows = tile_rows + 2 * largest_speck;
constexpr int ring_words = tile_words + 1, ring_rows = tile_rows + largest_speck - 1;
constexpr int speck_threads = 256;

// Shared memory of specks_kernel.
struct SpeckMemory {
    std::uint32_t white[white_rows][white_words];
    std::uint32_t rings[ring_rows][ring_words];
};

// Returns the highest bits of four bytes as bits 0 to 3.
__device__ std::uint32_t high_bits(std::uint32_t bytes) { return ((bytes >> 7 & 0x01010101u) * 0x10204080u) >> 28; }

// Returns four bytes, 255 for each set bit of 0 to 3.
__device__ std::uint32_t bytes_of(std::uint32_t bits) { return ((bits & 15u) * 0x00204081u & 0x01010101u) * 255u; }

// Returns the word whose bit i is bit i - shift of `own`; bits shifted in come from the end of `before`.
__device__ std::uint32_t from_before(std::uint32_t before, std::uint32_t own, int shift) {
    return __funnelshift_l(before, own, shift);
}

// Returns the word whose bit i is bit i + shift of `own`; bits shifted in come from the start of `after`.
__device__ std::uint32_t from_after(std::uint32_t own, std::uint32_t after, int shift) {
    return __funnelshift_r(own, after, shift);
}

// Finds the squares of `side` pixels with white rings, for all threads of the block.
template <int side>
__device__ void find_rings(SpeckMemory& memory) {
    for (int i = threadIdx.x; i < ring_rows * ring_words; i += speck_threads) {
        const int row = i / ring_words, word = i % ring_words;
        // Row 0 of rings is row 1 of white. A word before the first is needed only for bits that are not.
        const auto word_at = [&](int y, int at) { return at < 0 ? ~0u : memory.white[y][at]; };
        const int y = row + 1;
        std::uint32_t all = ~0u;
        const auto join_run = [&](int at) {
            const auto before = word_at(at, word - 1), own = memory.white[at][word], after = memory.white[at][word + 1];
            all &= from_before(before, own, 1) & own;
#pragma unroll
            for (int shift = 1; shift <= side; ++shift) all &= from_after(own, after, shift);
        };
        join_run(y - 1);
        join_run(y + side);
#pragma unroll
        for (int at = 0; at < side; ++at)
            all &= from_before(word_at(y + at, word - 1), memory.white[y + at][word], 1) &
                   from_after(memory.white[y + at][word], memory.white[y + at][word + 1], side);
        memory.rings[row][word] = all;
    }
}

// Returns the pixels of a word of the tile that squares of `side` pixels cover.
template <int side>
__device__ std::uint32_t covered(const SpeckMemory& memory, int row, int word) {
    std::uint32_t before = 0, own = 0;
#pragma unroll
    for (int up = 0; up < side; ++up) {
        before |= memory.rings[row + largest_speck - 1 - up][word];
        own |= memory.rings[row + largest_speck - 1 - up][word + 1];
    }
    auto any = own;
#pragma unroll
    for (int shift = 1; shift < side; ++shift) any |= from_before(before, own, shift);
    return any;
}

// Copies the mask to all channels of the result, without specks. Grid: x and y cover the tiles, z is the frame. The
// flags say that the rows of the mask, and of the result, start at multiples of 16 bytes.
template <int channels, bool aligned_in, bool aligned_out>
__global__ void __launch_bounds__(speck_threads)
    specks_kernel(cuda::KernelImage<const std::uint8_t> mask, cuda::KernelImage<std::uint8_t> out, int width,
                  int height) {
    __shared__ SpeckMemory memory;
    const int tile_x = blockIdx.x * tile_px, tile_y = blockIdx.y * tile_rows, frame = blockIdx.z;
    for (int i = threadIdx.x; i < white_rows * white_words; i += speck_threads) {
        const int row = i / white_words, word = i % white_words;
        const int y = tile_y + row - largest_speck, x = tile_x + (word - 1) * word_px;
        std::uint32_t white = ~0u;
        if (y >= 0 && y < height && x >= 0 && x < width) {
            const auto* in = mask.row(frame, y) + x;
            const int pixels = min(width - x, word_px);
            if (pixels == word_px && aligned_in) {
                const auto low = __ldg(reinterpret_cast<const uint4*>(in)),
                           high = __ldg(reinterpret_cast<const uint4*>(in) + 1);
                white = high_bits(low.x) | high_bits(low.y) << 4 | high_bits(low.z) << 8 | high_bits(low.w) << 12 |
                        high_bits(high.x) << 16 | high_bits(high.y) << 20 | high_bits(high.z) << 24 |
                        high_bits(high.w) << 28;
            } else {
                for (int bit = 0; bit < pixels; ++bit)
                    if (in[bit] == 0) white &= ~(1u << bit);
            }
        }
        memory.white[row][word] = white;
    }
    __syncthreads();

    // One word of results per thread, for each of the two sizes in turn.
    static_assert(tile_rows * tile_words == speck_threads);
    static_assert(speck_sides[0] == 3 && speck_sides[1] == largest_speck);
    const int row = threadIdx.x / tile_words, word = threadIdx.x % tile_words;
    find_rings<speck_sides[0]>(memory);
    __syncthreads();
    auto white = memory.white[row + largest_speck][word + 1] | covered<speck_sides[0]>(memory, row, word);
    __syncthreads();
    find_rings<speck_sides[1]>(memory);
    __syncthreads();
    white |= covered<speck_sides[1]>(memory, row, word);

    const int y = tile_y + row, x = tile_x + word * word_px, pixels = min(width - x, word_px);
    if (y >= height || pixels <= 0) return;
    auto* to = out.row(frame, y) + x * channels;
    if (aligned_out && pixels == word_px) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto bits = white >> (16 * half);
            const uint4 bytes{bytes_of(bits), bytes_of(bits >> 4), bytes_of(bits >> 8), bytes_of(bits >> 12)};
            store_gray(bytes, channels, false, to + 16 * half * channels);
        }
        return;
    }
    for (int bit = 0; bit < pixels; ++bit)
        for (int channel = 0; channel < channels; ++channel) to[bit * channels + channel] = white >> bit & 1u ? 255 : 0;
}

// Returns a grid that covers `columns` x `rows` with blocks, for a number of frames.
dim3 grid_of(int columns, int block_columns, int rows, int block_rows, int frames) {
    return {cuda::blocks(columns, block_columns), cuda::blocks(rows, block_rows), static_cast<unsigned>(frames)};
}

}  // namespace
}  // namespace document_kernels

void Document::shrink(DeviceView<const std::uint8_t> gray, DeviceView<std::uint8_t> blocks) const {
    using namespace document_kernels;
    const Sizes sizes{shape_.width, shape_.height, blocks_shape_.width, blocks_shape_.height};
    const cuda::KernelImage from(gray);
    const cuda::KernelImage to(blocks);
    const auto kernel = from.aligned_to(quad_px) ? shrink_kernel<true> : shrink_kernel<false>;
    cuda::for_frames(shape_.frames, 1, [&](int first, int frames) {
        const auto grid = grid_of(sizes.blocks_x, columns_per_block, sizes.blocks_y, rows_per_block, frames);
        cuda::Launch(executor_->stream(), grid, dim3(columns_per_block, rows_per_block))(kernel, from.from_frame(first),
                                                                                         to.from_frame(first), sizes);
    });
}

void Document::divide(DeviceView<const std::uint8_t> gray, DeviceView<const std::uint8_t> paper,
                      DeviceView<std::uint8_t> left) const {
    using namespace document_kernels;
    const Sizes sizes{shape_.width, shape_.height, blocks_shape_.width, blocks_shape_.height};
    const cuda::KernelImage from(gray), light(paper);
    const cuda::KernelImage to(left);
    const auto kernel = from.aligned_to(quad_px) && to.aligned_to(quad_px) ? divide_kernel<true> : divide_kernel<false>;
    cuda::for_frames(shape_.frames, 1, [&](int first, int frames) {
        const auto grid = grid_of(sizes.blocks_x, columns_per_block, sizes.height, rows_per_block, frames);
        cuda::Launch(executor_->stream(), grid, dim3(columns_per_block, rows_per_block))(
            kernel, from.from_frame(first), light.from_frame(first), to.from_frame(first), sizes);
    });
}

void Document::drop_specks(DeviceView<const std::uint8_t> mask, DeviceView<std::uint8_t> out) const {
    using namespace document_kernels;
    const cuda::KernelImage from(mask);
    const cuda::KernelImage to(out);
    const bool in_words = from.aligned_to(16), out_words = to.aligned_to(16);
    const auto kernel_of = [&]<int channels>(std::integral_constant<int, channels>) {
        if (in_words) return out_words ? specks_kernel<channels, true, true> : specks_kernel<channels, true, false>;
        return out_words ? specks_kernel<channels, false, true> : specks_kernel<channels, false, false>;
    };
    const auto kernel = shape_.channels == 3 ? kernel_of(std::integral_constant<int, 3>())
                                             : kernel_of(std::integral_constant<int, 1>());
    cuda::for_frames(shape_.frames, 1, [&](int first, int frames) {
        const auto grid = grid_of(shape_.width, tile_px, shape_.height, tile_rows, frames);
        cuda::Launch(executor_->stream(), grid, speck_threads)(kernel, from.from_frame(first), to.from_frame(first),
                                                               shape_.width, shape_.height);
    });
}

}  // namespace framewire
