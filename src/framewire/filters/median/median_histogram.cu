#include "framewire/cuda/check.hpp"
#include "framewire/filters/median/median.hpp"
#include "framewire/filters/median/median_cuda.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

// A thread has a column of bytes and the histogram of the window that slides down it (Huang, Yang and Tang, "A fast
// two-dimensional median filtering algorithm", 1979), 256 counts of 16 bits in shared memory, two to a word. The words
// of different threads are in different banks, whatever their pixels are.
constexpr int threads = 128;
constexpr int histogram_words = 128 * threads;

// Where a level's count is from the thread's first word on, in units of 16 bits; rises with the level.
__host__ __device__ constexpr std::uint32_t place_of(std::uint32_t level) {
    return (level >> 1) * (2 * threads) + (level & 1);
}

// A pixel that enters the windows and, in the upper half, the one that leaves them, as places.
using Exchange = std::uint32_t;

__host__ __device__ constexpr int columns_of(int size, int channels) { return threads + (size - 1) * channels; }
constexpr int max_columns_per_thread = (columns_of(max_median_size, 3) + threads - 1) / threads;

struct Rows {
    const std::uint8_t *entering, *leaving;  // null for black
};

struct Strip {
    const std::uint8_t* frame;
    std::int64_t row_stride;
    int width, height, channels, radius;
    int first_column;  // in bytes, of the result
    Border border;

    __device__ const std::uint8_t* row(int y) const {
        const int from = border_index(y, height, border);
        return from < 0 ? nullptr : frame + from * row_stride;
    }
    // The exchange of rows that takes the windows from around row y - 1 to around row y.
    __device__ Rows rows_around(int y) const { return {row(y + radius), row(y - radius - 1)}; }
};

// Byte offsets into any row of the columns that a thread reads for its block; -1 for black.
__device__ void find_columns(const Strip& strip, int count, int (&offsets)[max_columns_per_thread]) {
#pragma unroll
    for (int i = 0; i < max_columns_per_thread; ++i) {
        const int column = i * threads + static_cast<int>(threadIdx.x);
        offsets[i] = -1;
        if (column >= count) continue;
        // The first column's border has less than 256 pixels; kept positive so that division rounds down.
        const int byte = strip.first_column + column + (256 - strip.radius) * strip.channels;
        const int x = border_index(byte / strip.channels - 256, strip.width, strip.border);
        if (x >= 0) offsets[i] = x * strip.channels + byte % strip.channels;
    }
}

__device__ void read_rows(const Rows& rows, const int (&offsets)[max_columns_per_thread], int count,
                          Exchange (&exchanges)[max_columns_per_thread]) {
#pragma unroll
    for (int i = 0; i < max_columns_per_thread; ++i) {
        if (i * threads >= count) break;
        const bool inside = offsets[i] >= 0;
        const std::uint32_t entering = inside && rows.entering ? rows.entering[offsets[i]] : 0;
        const std::uint32_t leaving = inside && rows.leaving ? rows.leaving[offsets[i]] : 0;
        exchanges[i] = place_of(entering) | place_of(leaving) << 16;
    }
}

__device__ void write_exchanges(const Exchange (&exchanges)[max_columns_per_thread], int count, Exchange* shared) {
#pragma unroll
    for (int i = 0; i < max_columns_per_thread; ++i) {
        const int column = i * threads + static_cast<int>(threadIdx.x);
        if (column < count) shared[column] = exchanges[i];
    }
}

__global__ void __launch_bounds__(threads)
    histogram_median(MedianImages images, int size, Border border, int rows_per_block) {
    extern __shared__ std::uint32_t shared[];
    auto* counts = reinterpret_cast<std::uint16_t*>(shared + threadIdx.x);
    const int columns = columns_of(size, images.channels);
    auto* exchanges = shared + histogram_words;  // of two rows; those from `made` on are being made

    const Strip strip{images.in + blockIdx.z * images.in_frame_stride,
                      images.in_row_stride,
                      images.width,
                      images.height,
                      images.channels,
                      size / 2,
                      static_cast<int>(blockIdx.x) * threads,
                      border};
    const int first_row = static_cast<int>(blockIdx.y) * rows_per_block;
    const int last_row = min(first_row + rows_per_block, images.height) - 1;
    const int column = strip.first_column + static_cast<int>(threadIdx.x);
    const bool has_column = column < images.width * images.channels;
    auto* out = images.out + blockIdx.z * images.out_frame_stride + column;

    for (int word = 0; word < 128; ++word) shared[word * threads + threadIdx.x] = 0;
    int offsets[max_columns_per_thread];
    find_columns(strip, columns, offsets);
    Exchange next[max_columns_per_thread];

    // The window around the row above the first: what enters is counted, nothing leaves.
    int made = 0;
    for (int y = first_row - 1 - strip.radius; y < first_row + strip.radius; ++y, made = columns - made) {
        read_rows({strip.row(y), nullptr}, offsets, columns, next);
        write_exchanges(next, columns, exchanges + made);
        __syncthreads();
        const auto* exchange = exchanges + made + threadIdx.x;
        for (int i = 0; i < size; ++i, exchange += images.channels) ++counts[*exchange & 0xFFFF];
    }

    // The exchanges of a row are read from memory while those of the row before are made.
    read_rows(strip.rows_around(first_row), offsets, columns, next);
    write_exchanges(next, columns, exchanges + made);
    __syncthreads();
    const int middle = size * size / 2;
    std::uint32_t median = 0;
    int below = 0;  // values less than the median
    for (int y = first_row; y <= last_row; ++y, made = columns - made) {
        if (y < last_row) read_rows(strip.rows_around(y + 1), offsets, columns, next);
        const auto* exchange = exchanges + made + threadIdx.x;
        const auto median_place = place_of(median);
#pragma unroll 4
        for (int i = 0; i < size; ++i, exchange += images.channels) {
            const auto entering = *exchange & 0xFFFF, leaving = *exchange >> 16;
            if (entering == leaving) continue;
            const auto more = static_cast<std::uint16_t>(counts[entering] + 1);
            const auto less = static_cast<std::uint16_t>(counts[leaving] - 1);
            counts[entering] = more;
            counts[leaving] = less;
            below += (entering < median_place) - (leaving < median_place);
        }
        while (below > middle) below -= counts[place_of(--median)];
        for (int count = counts[place_of(median)]; below + count <= middle; count = counts[place_of(median)]) {
            below += count;
            ++median;
        }
        if (has_column) out[y * images.out_row_stride] = static_cast<std::uint8_t>(median);
        if (y < last_row) write_exchanges(next, columns, exchanges + columns - made);
        __syncthreads();
    }
}

}  // namespace

void histogram_median_on_device(const MedianImages& images, int size, Border border, cudaStream_t stream) {
    const auto parts = [](std::int64_t whole, std::int64_t each) { return (whole + each - 1) / each; };
    const int shared_bytes =
        (histogram_words + 2 * columns_of(size, images.channels)) * static_cast<int>(sizeof(std::uint32_t));
    cuda::check(cudaFuncSetAttribute(histogram_median, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    // Blocks enough for several to follow each other on every multiprocessor, with rows enough to make up for counting
    // their first window.
    constexpr int wanted_blocks = 1600;
    const auto strips = parts(std::int64_t{images.width} * images.channels, threads);
    const auto bands =
        std::clamp<std::int64_t>(wanted_blocks / (strips * images.frames), 1, parts(images.height, 2 * size));
    const auto rows_per_block = static_cast<int>(parts(images.height, bands));
    const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(parts(images.height, rows_per_block)),
                    static_cast<unsigned>(images.frames));
    histogram_median<<<grid, threads, static_cast<std::size_t>(shared_bytes), stream>>>(images, size, border,
                                                                                        rows_per_block);
    cuda::check_launch();
}

}  // namespace framewire
