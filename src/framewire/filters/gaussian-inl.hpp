// Row and column passes of the Gaussian in vectors, for every filter that blurs. Compiled once per instruction set:
// include it inside a SIMD source, after <hwy/highway.h>; the include guard toggles accordingly.
//
// A tile is processed row by row. Two rows' results share one ring row, interleaved, because multiply_add_pairs()
// weighs two 16-bit numbers at a time:
//
//   image row y      -> padded line -> row pass  -> 16-bit results
//   rows 2i, 2i + 1  -> one ring row of (result of 2i, result of 2i + 1) pairs
//   ring rows        -> column pass -> row of the result

#if defined(FRAMEWIRE_FILTERS_GAUSSIAN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_FILTERS_GAUSSIAN_INL_HPP
#undef FRAMEWIRE_FILTERS_GAUSSIAN_INL_HPP
#else
#define FRAMEWIRE_FILTERS_GAUSSIAN_INL_HPP
#endif

#include "framewire/core/simd-inl.hpp"
#include "framewire/filters/gaussian.hpp"

#include <hwy/highway.h>

// The part that is compiled once, not once per instruction set.
#ifndef FRAMEWIRE_GAUSSIAN_INL_ONCE
#define FRAMEWIRE_GAUSSIAN_INL_ONCE

#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace framewire {

// Smallest width of a tile. A tile's working memory is on the stack: a padded line, the last row's results, and a ring
// that holds the results of as many rows as there are taps. Tiles are as wide as possible while the ring fits 32 KiB of
// the L1 cache, but not narrower than this.
inline constexpr int gaussian_least_tile_bytes = 2 * tile_step_px * 3;
// Width of the widest tile, for windows with few taps.
inline constexpr int gaussian_most_tile_bytes = 6144;
// Number of row results that fit 32 KiB of the ring, 16 bits each.
inline constexpr int gaussian_near_elements = 16 * 1024;
// Number of elements in the largest ring and in the longest line.
inline constexpr int gaussian_ring_pairs = (max_window_px / 2 + 1) * gaussian_least_tile_bytes;
inline constexpr int gaussian_line_elements = gaussian_most_tile_bytes + (tile_step_px + max_window_px) * 3;
// Vectors may read and write up to this many elements beyond the end of a line.
inline constexpr int gaussian_slack = 256;

// Returns the width of a tile, in bytes, for windows with `taps` taps.
inline int gaussian_tile_bytes(int taps) {
    return std::clamp(gaussian_near_elements / taps, gaussian_least_tile_bytes, gaussian_most_tile_bytes);
}

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE::gaussian_passes {

namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using D16 = hn::Repartition<std::int16_t, D32>;
using V32 = hn::Vec<D32>;

// Maximum number of pairs of taps. multiply_add_pairs() takes taps in pairs: an element holds two 16-bit numbers, the
// first in the lower half.
inline constexpr int most_pairs = max_window_px / 2 + 1;

// Packs two 16-bit numbers into an element.
HWY_INLINE std::int32_t pair_of(int first, int second) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(first & 0xFFFF) | static_cast<std::uint32_t>(second)
                                                                                      << 16);
}

// Weights of a window in pairs. `even` starts with the first tap. `odd` has a zero weight in front, for windows whose
// first row is the second row of a ring row.
struct WeightPairs {
    std::int32_t even[most_pairs], odd[most_pairs];
};

// Unfolds the weights and arranges them in pairs.
inline WeightPairs in_pairs(const GaussianWeights& weights) {
    const auto weight = [&](int tap) {
        const int mirrored = weights.taps - 1 - tap;
        if (tap < 0 || mirrored < 0) return 0;
        return weights.folded[std::min(tap, mirrored)] * (tap == mirrored ? 2 : 1);
    };
    WeightPairs result;
    for (int pair = 0; pair <= weights.taps / 2; ++pair) {
        result.even[pair] = pair_of(weight(2 * pair), weight(2 * pair + 1));
        result.odd[pair] = pair_of(weight(2 * pair - 1), weight(2 * pair));
    }
    return result;
}

// How a row's results are stored as signed 16-bit numbers. With GaussianRounding::opencv they take all 16 bits and are
// stored minus 2^15; a column's weights sum to 2^15, so its sum is 2^30 too small, which the start value corrects.
template <GaussianRounding rounding>
struct Passes {
    // Right shifts of the two passes.
    static constexpr int row_shift = gaussian_row_shift(rounding), column_shift = gaussian_column_shift(rounding);
    // Stored value of the result 0.
    static constexpr int zero = rounding == GaussianRounding::fine ? 0 : -(1 << 15);
    // Start values of the sums, which account for the rounding and for the offset of the stored numbers.
    static constexpr std::int32_t row_start = (1 << (row_shift - 1)) + zero * (1 << row_shift);
    static constexpr std::int32_t column_start = (1 << (column_shift - 1)) - zero * (1 << 15);
};

// Computes four vectors of results at x: (sum of weight * tap + start) >> shift. line_of(pair) returns the line with
// the taps of a pair of weights. `fixed_pairs` is the number of pairs if it is known at compile time, otherwise 0.
template <int shift, std::int32_t start, int fixed_pairs, class LineOf, class Store>
HWY_INLINE void weigh(LineOf&& line_of, const std::int32_t* weights, int pairs, std::int64_t x, Store&& store) {
    const D32 d32;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d32));
    if (fixed_pairs) pairs = fixed_pairs;
    auto sum_0 = hn::Set(d32, start), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
#pragma GCC unroll 4
    for (int pair = 0; pair < pairs; ++pair) {
        const auto weight = hn::BitCast(D16(), hn::Set(d32, weights[pair]));
        const std::int32_t* line = line_of(pair) + x;
        const auto weighed = [&](std::int64_t at) HWY_ATTR {
            return multiply_add_pairs(d32, hn::BitCast(D16(), hn::LoadU(d32, line + at)), weight);
        };
        sum_0 = hn::Add(sum_0, weighed(0));
        sum_1 = hn::Add(sum_1, weighed(lanes));
        sum_2 = hn::Add(sum_2, weighed(2 * lanes));
        sum_3 = hn::Add(sum_3, weighed(3 * lanes));
    }
    store(hn::ShiftRight<shift>(sum_0), hn::ShiftRight<shift>(sum_1), hn::ShiftRight<shift>(sum_2),
          hn::ShiftRight<shift>(sum_3));
}

// 16-bit numbers for a vector of bytes, from the lower and the upper half of each 16-byte block.
struct Halves {
    hn::Vec<D16> lower, upper;
};

// Runs the row pass for one row and writes the results, up to a vector more than `count`, to a ring row. They become
// the first half of each pair and are kept in `last` for the next row; if `second`, they become the second half, next
// to the previous row's results in `last`. The two taps of a weight are added before they are weighed; a middle tap is
// added to itself. Within each block of 16 elements the results stay in the order that interleaving produces: a vector
// of bytes becomes four vectors, the first of which holds elements 0 to 3 of every block.
template <GaussianRounding rounding, int fixed_terms>
void weigh_row(const std::uint8_t* line, int channels, const GaussianWeights& weights, int count, bool second,
               std::int16_t* last, std::int32_t* out) {
    using P = Passes<rounding>;
    const D32 d32;
    const D16 d16;
    const hn::Repartition<std::uint8_t, D32> d8;
    const auto step = static_cast<int>(hn::Lanes(d8)), lanes = step / 4;
    const int terms = fixed_terms ? fixed_terms : weights.terms();
    const auto* line_end = line + (weights.taps - 1) * channels;
    const auto ones = hn::Set(d8, 1);
    for (int x = 0; x < count; x += step) {
        auto sum_0 = hn::Set(d32, P::row_start), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
        // Returns the sum of the two taps of a weight, in 16 bits.
        const auto both = [&](int term) HWY_ATTR {
            const auto before = hn::LoadU(d8, line + x + term * channels);
            const auto after = hn::LoadU(d8, line_end + x - term * channels);
            return Halves{multiply_add_bytes(d16, hn::InterleaveLower(d8, before, after), ones),
                          multiply_add_bytes(d16, hn::InterleaveUpper(d8, before, after), ones)};
        };
        // Adds two terms, each times its weight, in 32 bits.
        const auto add = [&](const Halves& first, const Halves& next, std::int32_t pair) HWY_ATTR {
            const auto weight = hn::BitCast(d16, hn::Set(d32, pair));
            sum_0 = hn::Add(sum_0, multiply_add_pairs(d32, hn::InterleaveLower(d16, first.lower, next.lower), weight));
            sum_1 = hn::Add(sum_1, multiply_add_pairs(d32, hn::InterleaveUpper(d16, first.lower, next.lower), weight));
            sum_2 = hn::Add(sum_2, multiply_add_pairs(d32, hn::InterleaveLower(d16, first.upper, next.upper), weight));
            sum_3 = hn::Add(sum_3, multiply_add_pairs(d32, hn::InterleaveUpper(d16, first.upper, next.upper), weight));
        };
        int term = 0;
#pragma GCC unroll 4
        for (; term + 2 <= terms; term += 2)
            add(both(term), both(term + 1), pair_of(weights.folded[term], weights.folded[term + 1]));
        if (term < terms) add(both(term), {hn::Zero(d16), hn::Zero(d16)}, pair_of(weights.folded[term], 0));
        // Narrow to 16 bits, in the order that interleaving left.
        const auto lower =
            halve_in_blocks(d16, hn::ShiftRight<P::row_shift>(sum_0), hn::ShiftRight<P::row_shift>(sum_1));
        const auto upper =
            halve_in_blocks(d16, hn::ShiftRight<P::row_shift>(sum_2), hn::ShiftRight<P::row_shift>(sum_3));
        // Pair the results with the previous row's, or keep them for the next row.
        auto first_lower = lower, first_upper = upper;
        auto second_lower = hn::Set(d16, static_cast<std::int16_t>(P::zero)), second_upper = second_lower;
        if (second) {
            first_lower = hn::LoadU(d16, last + x);
            first_upper = hn::LoadU(d16, last + x + step / 2);
            second_lower = lower;
            second_upper = upper;
        } else {
            hn::StoreU(lower, d16, last + x);
            hn::StoreU(upper, d16, last + x + step / 2);
        }
        auto* to = out + x;
        hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d16, first_lower, second_lower)), d32, to);
        hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d16, first_lower, second_lower)), d32, to + lanes);
        hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d16, first_upper, second_upper)), d32, to + 2 * lanes);
        hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d16, first_upper, second_upper)), d32, to + 3 * lanes);
    }
}

// Runs the column pass for one row of the result: computes `count` bytes from `pairs` ring rows and writes them to
// `out`.
template <GaussianRounding rounding, int fixed_pairs>
void weigh_column(const std::int32_t* const* rows, const std::int32_t* weights, int pairs, int count,
                  std::uint8_t* out) {
    const hn::Repartition<std::uint8_t, D32> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto weigh_to = [&](int x, std::uint8_t* to) HWY_ATTR {
        weigh<Passes<rounding>::column_shift, Passes<rounding>::column_start, fixed_pairs>(
            [&](int pair) { return rows[pair]; }, weights, pairs, x,
            [&](V32 r_0, V32 r_1, V32 r_2, V32 r_3) HWY_ATTR {
                hn::StoreU(narrow_in_blocks(d8, halve_in_blocks(D16(), r_0, r_1), halve_in_blocks(D16(), r_2, r_3)), d8,
                           to);
            });
    };
    int x = 0;
    for (; x + step <= count; x += step) weigh_to(x, out + x);
    if (x == count) return;
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
    weigh_to(x, last);
    std::memcpy(out + x, last, static_cast<std::size_t>(count - x));
}

/// Blurs a tile of an image of `shape`, row by row. load_row(y, columns, line) copies the part of image row y that lies
/// in the tile's columns to `line`. out_row(y) returns the address for row y of the tile's result, and row_done(y) is
/// called when that row is complete. `rounding` equals weights.rounding; `fixed_terms` is weights.terms(), or 0 for any
/// number.
template <GaussianRounding rounding, int fixed_terms, class LoadRow, class OutRow, class RowDone>
void blur_tile(const GaussianWeights& weights, Border border, const Shape& shape, const WindowTile& tile,
               LoadRow&& load_row, OutRow&& out_row, RowDone&& row_done) {
    const int channels = shape.channels, taps = weights.taps;
    const TileColumns columns(tile, weights.reach, shape, border);
    const int tile_bytes = (tile.x_end - tile.x_begin) * channels;
    const int ring_stride = (tile_bytes + tile_step_px - 1) / tile_step_px * tile_step_px;
    const auto pairs = in_pairs(weights);

    HWY_ALIGN std::uint8_t line[gaussian_line_elements + gaussian_slack];
    HWY_ALIGN std::int16_t last[gaussian_most_tile_bytes + gaussian_slack];
    HWY_ALIGN std::int32_t ring[gaussian_ring_pairs + gaussian_slack];
    // Bytes beyond the line do not affect the result, but vectors read them; keep them initialised.
    std::memset(line + columns.count(), 0, gaussian_slack);

    if (taps == 1) {  // the single weight, 2^15, does not fit a pair
        for (int y = tile.y_begin; y < tile.y_end; ++y) {
            load_row(y, columns, line);
            std::memcpy(out_row(y), line, static_cast<std::size_t>(tile_bytes));
            row_done(y);
        }
        return;
    }

    // Rows are counted from the first one that the tile's windows read. Two rows share a ring row.
    const int ring_rows = taps / 2 + 1;
    const auto ring_row = [&](int row) { return ring + row / 2 % ring_rows * ring_stride; };
    constexpr int zero = Passes<rounding>::zero;
    const auto clear = [&](int row) { std::fill_n(ring_row(row), ring_stride, pair_of(zero, zero)); };
    const auto add_row = [&](int row) {
        const int from = border_index(tile.y_begin - weights.reach.before + row, shape.height, border);
        const bool second = row % 2 != 0;
        if (from < 0) {  // the first row of a pair has already stored zeros for the second
            if (!second) {
                clear(row);
                std::fill(std::begin(last), std::end(last), static_cast<std::int16_t>(zero));
            }
            return;
        }
        load_row(from, columns, line + columns.line_begin());
        columns.fill_border(line);
        weigh_row<rounding, fixed_terms>(line, channels, weights, tile_bytes, second, last, ring_row(row));
    };
    std::memset(last, 0, sizeof last);
    if (taps % 2 == 0) clear(taps);  // the first windows read this ring row only with weight 0
    for (int row = 0; row < taps - 1; ++row) add_row(row);
    const std::int32_t* rows[most_pairs];
    for (int y = tile.y_begin; y < tile.y_end; ++y) {
        const int first = y - tile.y_begin;
        add_row(first + taps - 1);
        for (int pair = 0; pair < ring_rows; ++pair) rows[pair] = ring_row(first + 2 * pair);
        const auto weigh_rows = taps % 2 ? weigh_column<rounding, fixed_terms> : weigh_column<rounding, 0>;
        weigh_rows(rows, first % 2 ? pairs.odd : pairs.even, ring_rows, tile_bytes, out_row(y));
        row_done(y);
    }
}

}  // namespace framewire::HWY_NAMESPACE::gaussian_passes
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_FILTERS_GAUSSIAN_INL_HPP
