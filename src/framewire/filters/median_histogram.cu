#include "framewire/filters/kernel.cuh"
#include "framewire/filters/median.hpp"

#include <algorithm>
#include <cstdint>

// Median by sliding histograms, in constant time per pixel (Perreault and Hebert, "Median filtering in constant time",
// 2007). Every column of the image has a histogram that slides down; the sum of a window's columns slides along the
// row:
//
//   per row       each column: + entering value, - leaving value
//   per pixel     window: + entering column, - leaving column
//
// The histograms are cumulative, as on the CPU. The median is then the number of levels with counts of at most half of
// the window's values, which one ballot finds without a search. Of the 256 levels a window keeps only the 32 around its
// median, because the medians of neighbours are close. If a median lies outside, the window is counted again around it.

namespace framewire {
namespace median_histogram_kernels {
namespace {

// The 256 levels form 16 groups of 16.
constexpr int groups = 16, group_levels = 16;
// A lane has two levels, so two groups per window are kept.
constexpr int lanes_per_window = MedianHistogramBlocks::threads_per_window;
constexpr int step_px = MedianHistogramBlocks::step_px;  // number of pixels that a window slides at a time
constexpr int columns_per_thread = MedianHistogramBlocks::columns_per_thread;

/// Cumulative counts of one column of `size` values, in bytes. Each level has a count of the values of its group that
/// are at most the level; each group has a count of the values below it.
struct alignas(16) ColumnCounts {
    // Counts per level, within its group.
    uint4 within[groups];
    // Counts per group, of all groups below it.
    uint4 below;
};

constexpr int column_bytes = sizeof(ColumnCounts);
static_assert(column_bytes == MedianHistogramBlocks::column_bytes);

// One channel of one frame.
struct Strip {
    const std::uint8_t* frame;
    std::int64_t row_stride;
    int width, height, channels, channel;
    Border border;

    // Returns row `y`, or the row that the border supplies if `y` lies outside; null for black.
    __device__ const std::uint8_t* row(int y) const {
        const int from = border_index(y, height, border);
        return from < 0 ? nullptr : frame + from * row_stride;
    }
};

/// The columns whose counts a thread keeps; they are as many columns apart as the block has threads.
struct Columns {
    int offsets[columns_per_thread];  // offsets in bytes, the same in every row; -1 for black

    // Finds the source of each of the thread's columns, once for all rows.
    __device__ Columns(const Strip& strip, int first_column) {
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) {
            const int column = first_column + i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
            const int x = border_index(column, strip.width, strip.border);
            offsets[i] = x < 0 ? -1 : x * strip.channels + strip.channel;
        }
    }

    // Reads this thread's values of a row.
    __device__ void read(const std::uint8_t* row, std::uint32_t (&values)[columns_per_thread]) const {
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) values[i] = row && offsets[i] >= 0 ? row[offsets[i]] : 0;
    }
};

/// Returns bytes 4 * word to 4 * word + 3 of a vector whose bytes are 1 from byte `first` (0 to 16) on and 0 before it.
__device__ std::uint32_t ones_from(int first, int word) {
    return __funnelshift_lc(0u, 0x01010101u, static_cast<std::uint32_t>(max(8 * first - 32 * word, 0)));
}

/// Adds 1 or -1 (`times`) to the bytes from `first` on.
template <int times>
__device__ uint4 add_ones(uint4 counts, int first) {
    constexpr auto factor = static_cast<std::uint32_t>(times);
    return {counts.x + factor * ones_from(first, 0), counts.y + factor * ones_from(first, 1),
            counts.z + factor * ones_from(first, 2), counts.w + factor * ones_from(first, 3)};
}

/// Adds a value to the counts of its group in the column, or removes it if `times` is -1.
template <int times>
__device__ void count_value(ColumnCounts& column, std::uint32_t value) {
    auto& group = column.within[value / group_levels];
    group = add_ones<times>(group, static_cast<int>(value % group_levels));
}

// Returns the first group above a value.
__device__ int first_above(std::uint32_t value) { return static_cast<int>(value / group_levels) + 1; }

/// Counts for two levels, 16 bits each: how many of a window's values are at most the level.
using LevelPair = std::uint32_t;

/// A window that slides along a row of the block's columns; half a warp keeps its counts. The 32 levels in view form
/// four parts of eight. Each lane has two levels: pair lane / 4 of part lane % 4.
struct Window {
    const std::uint8_t* columns;  // columns of the block, as bytes
    int size;
    int lane = static_cast<int>(threadIdx.x) % lanes_per_window;
    int group = groups / 2 - 1;  // the first of the two groups in view
    LevelPair counts = 0;        // counts of this lane

    __device__ const std::uint8_t* column(int x) const { return columns + x * column_bytes; }
    // Returns the offset of the lane's part in a column; below() returns that of the count below the part's group.
    __device__ int part() const { return group * group_levels + lane % 4 * 8; }
    __device__ int below() const { return groups * group_levels + group + lane % 4 / 2; }

    // Returns the lane's pair of counts in one column.
    __device__ LevelPair counts_of(const std::uint8_t* column) const {
        const std::uint32_t pair = *reinterpret_cast<const std::uint16_t*>(column + part() + lane / 4 * 2);
        return __byte_perm(pair, 0, 0x4140) + column[below()] * 0x00010001u;
    }

    // Counts the whole window, four columns at a time. Each lane first adds up a full part of one of the columns.
    __device__ void count_all(int x) {
        LevelPair even[2] = {}, odd[2] = {};
        std::uint32_t sum_below = 0;
        const auto* at = column(x + lane / 4);
#pragma unroll 4
        for (int i = lane / 4; i < size; i += 4, at += 4 * column_bytes) {
            const auto words = *reinterpret_cast<const uint2*>(at + part());
            even[0] += words.x & 0x00FF00FF;
            odd[0] += words.x >> 8 & 0x00FF00FF;
            even[1] += words.y & 0x00FF00FF;
            odd[1] += words.y >> 8 & 0x00FF00FF;
            sum_below += at[below()];
        }
        // Exchange sums, so that each lane gets the sum of its own pair over all columns.
        const bool second_word = lane / 8 % 2, second_pair = lane / 4 % 2;
        const auto even_sum =
            (second_word ? even[1] : even[0]) + __shfl_xor_sync(~0u, second_word ? even[0] : even[1], 8);
        const auto odd_sum = (second_word ? odd[1] : odd[0]) + __shfl_xor_sync(~0u, second_word ? odd[0] : odd[1], 8);
        const auto first = __byte_perm(even_sum, odd_sum, 0x5410), second = __byte_perm(even_sum, odd_sum, 0x7632);
        counts = (second_pair ? second : first) + __shfl_xor_sync(~0u, second_pair ? first : second, 4);
        sum_below += __shfl_xor_sync(~0u, sum_below, 8);
        sum_below += __shfl_xor_sync(~0u, sum_below, 4);
        counts += sum_below * 0x00010001u;
    }

    /// Returns the number of levels in view with counts of at most half of the values.
    __device__ int levels_below_median(LevelPair at_most) const {
        const auto middle = static_cast<std::uint32_t>(size * size / 2);
        const auto even = __ballot_sync(~0u, at_most << 16 <= middle << 16);
        const auto odd = __ballot_sync(~0u, at_most <= (middle << 16 | 0xFFFF));
        return __popc(__byte_perm(even, odd, threadIdx.x % 32 < lanes_per_window ? 0x5410 : 0x7632));
    }

    // Returns true if the median is in view, that is, in one of the two groups whose levels are counted.
    __device__ bool sees_median(int levels_below) const {
        return levels_below < 2 * group_levels && (levels_below > 0 || group == 0);
    }

    /// Moves the view to the median's group and its neighbour on the side of the old view.
    __device__ void find_median(int x, int levels_below) {
        std::uint32_t below_group = 0;
        const auto* at = column(x) + groups * group_levels + lane;
        for (int i = 0; i < size; ++i, at += column_bytes) below_group += *at;
        const auto reached = __ballot_sync(~0u, below_group <= static_cast<std::uint32_t>(size * size / 2));
        const int median_group =
            __popc(__byte_perm(reached, 0, threadIdx.x % 32 < lanes_per_window ? 0x4410 : 0x4432)) - 1;
        if (!sees_median(levels_below)) {
            const bool from_below = levels_below > 0 || median_group == group;
            group = min(max(median_group - from_below, 0), groups - 2);
        }
        count_all(x);
    }

    /// Writes the medians at the step_px positions from x on and moves on to the next position. Computes all of them
    /// before it checks that they were in view.
    __device__ void slide(int x, std::uint8_t* medians) {
        const auto *entering = column(x + size), *leaving = column(x);
        // Counts at each position: adds the entering and subtracts the leaving columns.
        LevelPair at_most[step_px + 1] = {counts};
        int levels_below[step_px];
        bool seen = true;
#pragma unroll
        for (int i = 0; i < step_px; ++i) {
            at_most[i + 1] =
                at_most[i] + counts_of(entering + i * column_bytes) - counts_of(leaving + i * column_bytes);
        }
#pragma unroll
        for (int i = 0; i < step_px; ++i) {
            levels_below[i] = levels_below_median(at_most[i]);
            seen &= sees_median(levels_below[i]);
        }
        if (__all_sync(~0u, seen)) {
            // All medians were in view: one store for all of them.
            std::uint32_t packed = 0;
#pragma unroll
            for (int i = 0; i < step_px; ++i) packed |= static_cast<std::uint32_t>(levels_below[i]) << (8 * i);
            if (lane < step_px)
                medians[x + lane] = static_cast<std::uint8_t>(group * group_levels + (packed >> (8 * lane)));
            counts = at_most[step_px];
        } else {
            slide_by_one(x, medians);
        }
    }

    // Slides like slide(), but checks after each pixel. Used when a median has left the view.
    __device__ void slide_by_one(int x, std::uint8_t* medians) {
#pragma unroll 1
        for (int i = 0; i < step_px; ++i) {
            int levels_below = levels_below_median(counts);
            if (!__all_sync(~0u, sees_median(levels_below))) {
                find_median(x + i, levels_below);
                levels_below = levels_below_median(counts);
            }
            if (lane == 0) medians[x + i] = static_cast<std::uint8_t>(group * group_levels + levels_below);
            counts += counts_of(column(x + i + size)) - counts_of(column(x + i));
        }
    }
};

// Computes medians by histograms. Grid: x covers strips and channels, y bands of rows, z frames. For each row: update
// the thread's own columns, synchronise, read the next row's values, slide the windows, synchronise, store the medians.
__global__ void __launch_bounds__(MedianHistogramBlocks::most_threads)
    histogram_median(MedianImages images, int size, Border border, int windows, int window_px, int rows_per_block) {
    extern __shared__ ColumnCounts columns[];
    const int threads = static_cast<int>(blockDim.x), strip_px = windows * window_px, count = strip_px + size - 1,
              radius = size / 2;
    auto* medians = reinterpret_cast<std::uint8_t*>(columns + count + 1);  // medians of one row of the strip
    const int thread = static_cast<int>(threadIdx.x);

    const int frame = static_cast<int>(blockIdx.z), channel = static_cast<int>(blockIdx.x) % images.channels;
    const Strip strip{images.in.data + frame * images.in.frame_stride,
                      images.in.row_stride,
                      images.width,
                      images.height,
                      images.channels,
                      channel,
                      border};
    const int first_x = static_cast<int>(blockIdx.x) / images.channels * strip_px;
    const int first_row = static_cast<int>(blockIdx.y) * rows_per_block;
    const int end_row = min(first_row + rows_per_block, images.height);
    const Columns own(strip, first_x - radius);

    for (int i = thread; i < count; i += threads) columns[i] = {};
    std::uint32_t entering[columns_per_thread], leaving[columns_per_thread];
    const auto for_own_columns = [&](const auto& act) {
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i)
            if (i * threads + thread < count) act(columns[i * threads + thread], entering[i], leaving[i]);
    };
    // Start with the columns for the row above the first one.
    own.read(strip.row(first_row - 1 - radius), entering);
    for (int y = first_row - 1 - radius; y < first_row + radius; ++y) {
        std::uint32_t next[columns_per_thread];
        own.read(strip.row(y + 1), next);
        for_own_columns([](ColumnCounts& column, std::uint32_t value, std::uint32_t) {
            count_value<1>(column, value);
            column.below = add_ones<1>(column.below, first_above(value));
        });
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) entering[i] = next[i];
    }

    own.read(strip.row(first_row - 1 - radius), leaving);
    Window window{reinterpret_cast<const std::uint8_t*>(columns), size};
    const bool has_window = thread / lanes_per_window < windows;  // the same for all threads of a warp
    const int window_x = thread / lanes_per_window * window_px;
    auto* out = images.out.data + frame * images.out.frame_stride + channel;
    for (int y = first_row; y < end_row; ++y) {
        for_own_columns([](ColumnCounts& column, std::uint32_t enters, std::uint32_t leaves) {
            if (enters == leaves) return;
            count_value<1>(column, enters);
            count_value<-1>(column, leaves);
            column.below = add_ones<-1>(add_ones<1>(column.below, first_above(enters)), first_above(leaves));
        });
        __syncthreads();
        own.read(strip.row(y + 1 + radius), entering);
        own.read(strip.row(y - radius), leaving);

        if (has_window) {
            window.count_all(window_x);
            for (int x = window_x; x < window_x + window_px; x += step_px) window.slide(x, medians);
        }
        __syncthreads();
        for (int x = thread; x < min(strip_px, images.width - first_x); x += threads)
            out[y * images.out.row_stride + (first_x + x) * images.channels] = medians[x];
    }
}

}  // namespace
}  // namespace median_histogram_kernels

void allow_histogram_median() { cuda::allow_shared_memory(median_histogram_kernels::histogram_median); }

// The division into blocks comes from the plan.
void histogram_median_on_device(const MedianImages& images, int size, Border border,
                                const MedianHistogramBlocks& blocks, const cuda::Stream& stream) {
    using namespace median_histogram_kernels;
    const dim3 grid(static_cast<unsigned>(blocks.strips * images.channels), cuda::blocks(images.height, blocks.rows),
                    static_cast<unsigned>(images.frames));
    cuda::Launch(stream, grid, static_cast<unsigned>(blocks.threads), static_cast<std::size_t>(blocks.shared_bytes))(
        median_histogram_kernels::histogram_median, images, size, border, blocks.windows, blocks.window_px,
        blocks.rows);
}

}  // namespace framewire
