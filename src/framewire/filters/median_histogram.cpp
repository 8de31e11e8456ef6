#include "framewire/filters/median_histogram.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/median.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/median_histogram.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Counts = hn::Repartition<std::int16_t, Bytes>;

// Groups of levels. A window has two adjacent groups in view.
constexpr int group_levels = 32, groups = 256 / group_levels;
// Levels in view.
constexpr int sight_levels = 2 * group_levels;

// Cumulative histograms of a block's columns. `within` has a count per level: how many of a column's values lie in the
// level's group and are at most the level. `below` has 8 bits per group: how many values lie below the group.
struct ColumnCounts {
    std::uint8_t* within;  // 256 bytes per column
    std::uint64_t* below;  // one word per column
};

// Returns a 1 in the byte of every group above the group of a value.
std::uint64_t groups_above(std::uint8_t value) {
    return std::uint64_t{0x0101010101010100} << (8 * (value / group_levels));
}

// Adds a value to the column's counts, or removes it: changes the counts of its group from the value's level on.
template <bool more>
HWY_INLINE void count_within(std::uint8_t* column, std::uint8_t value) {
    alignas(64) static constexpr auto ones = [] {
        std::array<std::uint8_t, 2 * group_levels> bytes{};
        for (std::size_t i = group_levels; i < bytes.size(); ++i) bytes[i] = 1;
        return bytes;
    }();
    const hn::CappedTag<std::uint8_t, group_levels> d;
    auto* counts = column + value / group_levels * group_levels;
    const auto* added = ones.data() + group_levels - value % group_levels;
    for (std::size_t i = 0; i < group_levels; i += hn::Lanes(d)) {
        const auto before = hn::Load(d, counts + i), times = hn::LoadU(d, added + i);
        hn::Store(more ? hn::Add(before, times) : hn::Sub(before, times), d, counts + i);
    }
}

// Counts of a window's values that are at most a level, for the levels of one vector of a column's counts. Even and odd
// levels are separate, because masks and shifts then widen them to 16 bits at no cost. The counts are stored minus
// 32768, because signed comparisons are cheaper.
struct WindowCounts {
    hn::VFromD<Counts> even, odd;
};

// Splits a vector of a column's counts.
HWY_INLINE WindowCounts widen(hn::VFromD<Bytes> counts) {
    const auto both = hn::BitCast(Counts(), counts);
    const auto odd = hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<Counts>(), counts));
    return {hn::And(both, hn::Set(Counts(), std::int16_t{255})), hn::BitCast(Counts(), odd)};
}

// Adds the counts of a column.
HWY_INLINE WindowCounts operator+(WindowCounts a, WindowCounts b) {
    return {hn::Add(a.even, b.even), hn::Add(a.odd, b.odd)};
}

// Subtracts the counts of a column.
HWY_INLINE WindowCounts operator-(WindowCounts a, WindowCounts b) {
    return {hn::Sub(a.even, b.even), hn::Sub(a.odd, b.odd)};
}

// Replaces one value in each of the columns `begin` to `end` - 1.
HWY_INLINE void change_columns(ColumnCounts columns, const std::uint8_t* entering, const std::uint8_t* leaving,
                               int begin, int end) {
    for (int x = begin; x < end; ++x) {
        const auto enters = entering[x], leaves = leaving[x];
        if (enters == leaves) continue;
        auto* within = columns.within + std::int64_t{x} * 256;
        count_within<true>(within, enters);
        count_within<false>(within, leaves);
        columns.below[x] += groups_above(enters) - groups_above(leaves);
    }
}

// Returns the group that contains the median of a window of `size` columns.
HWY_NOINLINE int group_of_median(const std::uint64_t* below, int size) {
    constexpr std::uint64_t every_other = 0x00FF00FF00FF00FF;
    std::uint64_t even = 0, odd = 0;  // counts below the groups, 16 bits each
    for (int i = 0; i < size; ++i) {
        even += below[i] & every_other;
        odd += below[i] >> 8 & every_other;
    }
    int median_group = 0;
    const auto is_below = [&](int group) {
        return static_cast<int>((group % 2 ? odd : even) >> (8 * (group / 2 * 2)) & 0xFFFF) <= size * size / 2;
    };
    while (median_group + 1 < groups && is_below(median_group + 1)) ++median_group;
    return median_group;
}

// Shuffle that puts the count below a level's group into each 16-bit lane: the count in the lower byte, zero in the
// upper one.
struct HalvesOfSight {
    alignas(HWY_MAX_BYTES) std::uint8_t bytes[sight_levels];

    constexpr HalvesOfSight() : bytes() {
        for (int i = 0; i < sight_levels; ++i) bytes[i] = i % 2 ? 0x80 : i < group_levels ? 0 : 1;
    }
};

// A window that slides along a row. The pack `vector` enumerates the vectors of counts in view; expanding it keeps them
// in registers.
template <class Vectors>
class Window;

template <std::size_t... vector>
class Window<std::index_sequence<vector...>> {
public:
    Window(ColumnCounts columns, int size, int group) : columns_(columns), size_(size), group_(group) {}

    // Returns the first of the two groups in view.
    int group() const { return group_; }

    // Counts the window whose first column is `x`.
    HWY_INLINE void count_all(int x) {
        const auto lowest = hn::Set(Counts(), std::int16_t{-32768});
        for (auto& counts : counts_) counts = {lowest, lowest};
        for (int i = x; i < x + size_; ++i) ((counts_[vector] = counts_[vector] + column(i, vector)), ...);
    }

    // Moves the window from column x to x + 1.
    HWY_INLINE void slide(int x) {
        ((counts_[vector] = counts_[vector] + (column(x + size_, vector) - column(x, vector))), ...);
    }

    // Returns the median of the window whose first column is `x`; moves the view if the median lies outside it.
    HWY_INLINE std::uint8_t median(int x) {
        // Counts rise with the level, so the median is the number of levels with counts of at most half of the values.
        auto levels_below = levels_below_median();
        if (HWY_UNLIKELY(levels_below == sight_levels || (levels_below == 0 && group_ > 0))) {
            // Move the view to the median's group and its neighbour on the side of the old view.
            const int median_group = group_of_median(columns_.below + x, size_);
            const bool from_below = levels_below > 0 || median_group == group_;
            group_ = std::clamp(median_group - from_below, 0, groups - 2);
            count_all(x);
            levels_below = levels_below_median();
        }
        return static_cast<std::uint8_t>(group_ * group_levels + levels_below);
    }

private:
    // Returns the counts of one column for the i-th vector of levels in view, including the counts below their groups.
    HWY_INLINE WindowCounts column(int x, std::size_t i) const {
        const Bytes d;
        const auto* within = columns_.within + std::int64_t{x} * 256 + group_ * group_levels;
        std::uint16_t of_both_groups;
        std::memcpy(&of_both_groups, reinterpret_cast<const std::uint8_t*>(columns_.below + x) + group_, 2);
        const auto below = hn::BitCast(
            Counts(),
            hn::TableLookupBytesOr0(hn::BitCast(d, hn::Set(Counts(), static_cast<std::int16_t>(of_both_groups))),
                                    hn::Load(d, halves_.bytes + i * hn::Lanes(d))));
        const auto counts = widen(hn::LoadU(d, within + i * hn::Lanes(d)));
        return {hn::Add(counts.even, below), hn::Add(counts.odd, below)};
    }

    // Returns the number of levels in view with counts of at most half of the values.
    HWY_INLINE int levels_below_median() const {
        const Counts d;
        const auto more_than_half = hn::Set(d, static_cast<std::int16_t>(size_ * size_ / 2 + 1 - 32768));
        return static_cast<int>(((hn::CountTrue(d, hn::Lt(counts_[vector].even, more_than_half)) +
                                  hn::CountTrue(d, hn::Lt(counts_[vector].odd, more_than_half))) +
                                 ...));
    }

    static constexpr HalvesOfSight halves_{};
    ColumnCounts columns_;
    int size_, group_;  // side of the window, and the first of the two groups in view
    WindowCounts counts_[sizeof...(vector)];
};

}  // namespace

// The cumulative counts of every column slide down, and their sum slides along each row: constant time for every size
// (Perreault and Hebert, "Median filtering in constant time", 2007). Cumulative counts need no search: comparing the
// counts of many levels with half of the window at once yields the median. Only the 64 levels around the median are
// kept, because the medians of neighbours are close. If a median lies outside, the window is counted again.
void histogram_median_block(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    const auto& shape = block.in.shape();
    const int radius = size / 2, columns = block.width + size - 1;
    auto* within = scratch;
    auto* below = within + std::int64_t{columns} * 256;
    auto* entering = below + std::int64_t{columns} * 8;
    auto* leaving = entering + columns;
    auto* row_pixels = leaving + columns;
    const ColumnCounts counts{within, reinterpret_cast<std::uint64_t*>(below)};

    // Reads the values of the block's channel in row y, from the block's first to its last column.
    const auto read_row = [=, step = shape.channels](int y, std::uint8_t* values) {
        const auto* row = row_or_border(block.in, block.frame, y, border);
        const int begin = block.x - radius;
        auto* pixels = step == 1 ? values : row_pixels;
        pad_row_part(row, shape.width, step, begin, begin + columns, border, pixels);
        if (step == 1) return;
        for (int x = 0, at = block.channel; x < columns; ++x, at += step) values[x] = pixels[at];
    };

    // Start with the columns for the row above the block's first one.
    std::memset(within, 0, static_cast<std::size_t>(columns) * (256 + 8));
    for (int y = block.y - radius - 1; y < block.y + radius; ++y) {
        read_row(y, entering);
        for (int x = 0; x < columns; ++x) {
            count_within<true>(within + std::int64_t{x} * 256, entering[x]);
            counts.below[x] += groups_above(entering[x]);
        }
    }

    // Columns are updated some pixels before a window reaches them, because data is slow to read right after it was
    // written with a different width.
    constexpr int step_px = 32;
    using Vectors = std::make_index_sequence<std::max(1, sight_levels / HWY_MAX_BYTES)>;
    int first_group = groups / 2 - 1;
    for (int y = 0; y < block.height; ++y) {
        read_row(block.y + y + radius, entering);
        read_row(block.y + y - radius - 1, leaving);
        auto* out = block.out.row(block.frame, block.y + y) + block.x * shape.channels + block.channel;
        // The columns of the first window, and those updated ahead of it.
        change_columns(counts, entering, leaving, 0, std::min(columns, size + step_px));
        Window<Vectors> window(counts, size, first_group);
        window.count_all(0);
        window.median(0);
        first_group = window.group();
        for (int x = 0; x < block.width; x += step_px) {
            change_columns(counts, entering, leaving, x + size + step_px, std::min(columns, x + size + 2 * step_px));
            const int end = std::min(block.width, x + step_px);
            for (int i = x; i < end; ++i, out += shape.channels) {
                *out = window.median(i);
                if (i + 1 < block.width) window.slide(i);
            }
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(histogram_median_block);

// Divides the width first, for the cache, then the height, for the threads.
MedianBlocking histogram_blocking(int size, const Shape& shape, int threads) {
    // Maximum number of columns: their counts take half a megabyte.
    constexpr int max_columns = 2048;
    const auto cut = [](int whole, int at_most) {
        const int parts = (whole + at_most - 1) / at_most;
        return (whole + parts - 1) / parts;
    };
    const int width = cut(shape.width, max_columns - (size - 1));
    // Every block counts its first windows from scratch, so it has enough rows to amortise that, but few enough that
    // there are blocks for all threads.
    const auto blocks = std::int64_t{shape.frames} * shape.channels * ((shape.width + width - 1) / width);
    const auto bands = std::max<std::int64_t>(1, 4 * threads / blocks);
    const int height = std::max(static_cast<int>((shape.height + bands - 1) / bands), std::min(shape.height, size));
    const std::int64_t columns = width + size - 1;
    return {width, height, true, (columns * (256 + 8 + 2 + shape.channels) + 63) / 64 * 64};
}

void histogram_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    HWY_DYNAMIC_DISPATCH(histogram_median_block)(block, size, border, scratch);
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

using Blocks = MedianHistogramBlocks;

constexpr int windows_per_warp = 32 / Blocks::threads_per_window;
constexpr int reserved_bytes = 1024;  // bytes that CUDA reserves per block if several blocks share a multiprocessor

// Returns the number of parts that cover the whole.
constexpr int parts(int whole, int part) { return (whole + part - 1) / part; }

// Returns the bytes of shared memory for the columns' histograms and one row of medians.
constexpr int shared_bytes(int size, int strip_px) { return (strip_px + size) * Blocks::column_bytes + strip_px; }

// Returns the width of the widest strip that fits, in pixels.
constexpr int widest_strip_px(int size, int bytes) {
    return std::max(0, bytes - shared_bytes(size, 0)) / (Blocks::column_bytes + 1);
}

// Returns the maximum number of windows of a block with `bytes` of shared memory, if each window slides by one step.
constexpr int most_windows(int size, int bytes) {
    return widest_strip_px(size, bytes) / Blocks::step_px / windows_per_warp * windows_per_warp;
}

// Returns the largest size of which the smallest block fits.
int largest_size(int bytes) {
    int size = 255;
    while (size > 1 && most_windows(size, bytes) == 0) size -= 2;
    return size;
}

}  // namespace

// Tries four, three, two and finally one block per multiprocessor, until the strip is wide enough.
MedianHistogramBlocks::MedianHistogramBlocks(int size, const Shape& shape, const cuda::GpuLimits& gpu) {
    // Small blocks wait less at barriers. Large blocks have more warps per multiprocessor if the window's columns leave
    // room for only one block. A strip that is narrow compared with its margins costs more than it gains.
    constexpr int enough_px = 12;
    int most_px = 0;
    for (int blocks = 4; blocks >= 1 && most_px < enough_px; --blocks) {
        const int bytes =
            blocks == 1 ? gpu.block_shared_bytes
                        : std::min(gpu.multiprocessor_shared_bytes / blocks - reserved_bytes, gpu.block_shared_bytes);
        threads = blocks == 1 ? most_threads : most_threads / 2;
        windows = threads / threads_per_window;
        most_px = widest_strip_px(size, bytes) / (windows * step_px) * step_px;
    }
    if (most_px == 0) {  // no room for one step per window: use fewer windows; the other threads only update columns
        most_px = step_px;
        windows = std::min(windows, most_windows(size, gpu.block_shared_bytes));
        if (windows == 0)
            fail(ErrorCode::config,
                 "median: size {} needs {} bytes of shared memory per block, but this GPU has {}; use a size up to {} "
                 "or the cpu backend",
                 size, framewire::shared_bytes(size, windows_per_warp * step_px), gpu.block_shared_bytes,
                 largest_size(gpu.block_shared_bytes));
    }
    strips = parts(shape.width, windows * most_px);
    window_px = parts(shape.width, strips * windows * step_px) * step_px;
    shared_bytes = framewire::shared_bytes(size, strip_px());
    // There are enough blocks for several rounds on every multiprocessor, each with enough rows to amortise counting
    // its first windows.
    constexpr int wanted_blocks = 4000;
    const auto blocks = std::int64_t{strips} * shape.channels * shape.frames;
    const auto bands = std::clamp<std::int64_t>(wanted_blocks / blocks, 1, parts(shape.height, 2 * size));
    rows = parts(shape.height, static_cast<int>(bands));
}

}  // namespace framewire

#endif  // HWY_ONCE
