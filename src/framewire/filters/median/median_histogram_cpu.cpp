#include "framewire/core/simd.hpp"
#include "framewire/filters/median/median_cpu.hpp"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/median/median_histogram_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Counts = hn::Repartition<std::uint16_t, Bytes>;

// How many of a window's values are at most v, for 256 levels v, as far as one vector of a column's counts reaches: the
// even levels and the odd ones, which masks and shifts widen to 16 bits at no cost.
struct WindowCounts {
    hn::VFromD<Counts> even, odd;
};

HWY_INLINE WindowCounts widen(hn::VFromD<Bytes> counts) {
    const auto both = hn::BitCast(Counts(), counts);
    return {hn::And(both, hn::Set(Counts(), std::uint16_t{255})), hn::ShiftRight<8>(both)};
}

HWY_INLINE void add(WindowCounts& window, WindowCounts column) {
    window = {hn::Add(window.even, column.even), hn::Add(window.odd, column.odd)};
}

HWY_INLINE void subtract(WindowCounts& window, WindowCounts column) {
    window = {hn::Sub(window.even, column.even), hn::Sub(window.odd, column.odd)};
}

// The counts of a column from level `first` on with one more and one less value. A new value does not count at the
// levels below it; a true lane is -1.
HWY_INLINE hn::VFromD<Bytes> replace(hn::VFromD<Bytes> counts, std::size_t first, std::uint8_t entering,
                                     std::uint8_t leaving) {
    const Bytes d;
    const auto level = hn::Iota(d, static_cast<std::uint8_t>(first));
    counts = hn::Add(counts, hn::VecFromMask(d, hn::Gt(hn::Set(d, entering), level)));
    return hn::Sub(counts, hn::VecFromMask(d, hn::Gt(hn::Set(d, leaving), level)));
}

HWY_INLINE std::size_t levels_above(WindowCounts window, int middle) {
    const auto half = hn::Set(Counts(), static_cast<std::uint16_t>(middle));
    return hn::CountTrue(Counts(), hn::Gt(window.even, half)) + hn::CountTrue(Counts(), hn::Gt(window.odd, half));
}

// One row of a block. `vector` numbers the vectors of 256 counts: written out, the window stays in registers.
template <std::size_t... vector>
HWY_INLINE void slide_along_row(int size, int width, const std::uint8_t* entering, const std::uint8_t* leaving,
                                std::uint8_t* columns, std::uint8_t* out, int out_step,
                                std::index_sequence<vector...>) {
    const Bytes d;
    const auto lanes = hn::Lanes(d);
    const int middle = size * size / 2;
    WindowCounts window[] = {((void)vector, widen(hn::Zero(d)))...};
    for (int x = 0; x < width + size - 1; ++x) {
        auto* column = columns + std::int64_t{x} * 256;
        const hn::VFromD<Bytes> counts[] = {
            replace(hn::Load(d, column + vector * lanes), vector * lanes, entering[x], leaving[x])...};
        (hn::Store(counts[vector], d, column + vector * lanes), ...);
        (add(window[vector], widen(counts[vector])), ...);
        if (x < size - 1) continue;
        // Counts rise with the level, so the median is the number of levels that at most half of the values reach.
        out[(x - (size - 1)) * out_step] =
            static_cast<std::uint8_t>(256 - (levels_above(window[vector], middle) + ...));
        const auto* oldest = column - std::int64_t{size - 1} * 256;
        (subtract(window[vector], widen(hn::Load(d, oldest + vector * lanes))), ...);
    }
}

}  // namespace

// Cumulative counts of every column slide down, their sum along each row: constant time for every size (Perreault and
// Hebert, "Median filtering in constant time", 2007). Cumulative, they need no search: comparing all levels' counts
// with half of the window at once gives the median, without a branch.
void histogram_median_block(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    const auto& shape = block.in.shape();
    const int radius = size / 2, columns = block.width + size - 1;
    auto* counts = scratch;  // 256 of each column
    auto* entering = counts + std::int64_t{columns} * 256;
    auto* leaving = entering + columns;
    auto* row_pixels = leaving + columns;

    // The values of the block's channel in row y, from its first to its last column.
    const auto read_row = [&](int y, std::uint8_t* values) {
        const auto* row = row_or_border(block.in, block.frame, y, border);
        const int begin = block.x - radius;
        if (shape.channels == 1) return pad_row_part(row, shape.width, 1, begin, begin + columns, border, values);
        pad_row_part(row, shape.width, shape.channels, begin, begin + columns, border, row_pixels);
        for (int x = 0; x < columns; ++x) values[x] = row_pixels[x * shape.channels + block.channel];
    };

    // The window one row above the block's first.
    std::memset(counts, 0, static_cast<std::size_t>(columns) * 256);
    for (int y = block.y - radius - 1; y < block.y + radius; ++y) {
        read_row(y, entering);
        for (int x = 0; x < columns; ++x) ++counts[x * 256 + entering[x]];
    }
    for (int x = 0; x < columns; ++x) {
        auto* column = counts + x * 256;
        for (int level = 1; level < 256; ++level)
            column[level] = static_cast<std::uint8_t>(column[level] + column[level - 1]);
    }

    for (int y = 0; y < block.height; ++y) {
        read_row(block.y + y + radius, entering);
        read_row(block.y + y - radius - 1, leaving);
        auto* out = block.out.row(block.frame, block.y + y) + block.x * shape.channels + block.channel;
        slide_along_row(size, block.width, entering, leaving, counts, out, shape.channels,
                        std::make_index_sequence<256 / HWY_MAX_BYTES>());
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(histogram_median_block);

MedianBlocking histogram_blocking(int size, const Shape& shape, int threads) {
    // As many columns as half a megabyte of counts holds.
    constexpr int max_columns = 2048;
    const auto cut = [](int whole, int at_most) {
        const int parts = (whole + at_most - 1) / at_most;
        return (whole + parts - 1) / parts;
    };
    const int width = cut(shape.width, max_columns - (size - 1));
    // Each block counts its first window anew: rows enough to make up for that, few enough for all threads.
    const auto blocks = std::int64_t{shape.frames} * shape.channels * ((shape.width + width - 1) / width);
    const auto bands = std::max<std::int64_t>(1, 4 * threads / blocks);
    const int height = std::max(static_cast<int>((shape.height + bands - 1) / bands), std::min(shape.height, size));
    const std::int64_t columns = width + size - 1;
    return {width, height, true, (columns * (256 + 2 + shape.channels) + 63) / 64 * 64};
}

void histogram_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch) {
    HWY_DYNAMIC_DISPATCH(histogram_median_block)(block, size, border, scratch);
}

}  // namespace framewire

#endif
