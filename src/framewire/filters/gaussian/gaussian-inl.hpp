// The Gaussian's rows and columns in vectors, for every pass that blurs; compiled once for each instruction set:
// include inside a SIMD source, after <hwy/highway.h>, without an include guard of the usual kind.

// Not for one instruction set.
#ifndef FRAMEWIRE_GAUSSIAN_INL_ONCE
#define FRAMEWIRE_GAUSSIAN_INL_ONCE

#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

// A tile's working memory is on the stack: a padded line, its pixels in pairs, and a ring of as many rows' results as
// there are taps, two rows together. Tiles are as wide as keeps the ring in L1 (32 KiB of it), but not narrower than
// this:
inline constexpr int gaussian_least_tile_bytes = 2 * tile_step_px * 3;
inline constexpr int gaussian_most_tile_bytes = 6144;
inline constexpr int gaussian_near_elements = 16 * 1024;
inline constexpr int gaussian_ring_pairs = (max_window_px / 2 + 1) * gaussian_least_tile_bytes;
inline constexpr int gaussian_line_elements = gaussian_most_tile_bytes + (tile_step_px + max_window_px) * 3;
// Vectors read and write up to this many elements behind a line's end.
inline constexpr int gaussian_slack = 256;

inline int gaussian_tile_bytes(int taps) {
    return std::clamp(gaussian_near_elements / taps, gaussian_least_tile_bytes, gaussian_most_tile_bytes);
}

}  // namespace framewire

#endif

#if defined(FRAMEWIRE_GAUSSIAN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_GAUSSIAN_INL_HPP
#undef FRAMEWIRE_GAUSSIAN_INL_HPP
#else
#define FRAMEWIRE_GAUSSIAN_INL_HPP
#endif

#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"
#include "framewire/filters/gaussian/gaussian.hpp"

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE::gaussian_passes {

namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using D16 = hn::Repartition<std::int16_t, D32>;
using V32 = hn::Vec<D32>;

// Taps two by two, as multiply_add_pairs takes them: an element holds two numbers of 16 bits, the first one below.
inline constexpr int most_pairs = max_window_px / 2 + 1;

HWY_INLINE std::int32_t pair_of(int first, int second) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(first & 0xFFFF) | static_cast<std::uint32_t>(second)
                                                                                      << 16);
}

// A window's weights: from the first tap on, and, where a pair of rows begins before it, with none in front.
struct WeightPairs {
    std::int32_t even[most_pairs], odd[most_pairs];
};

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

// Four vectors of results from x on: (sum of weights times taps + half of 2^shift) >> shift. line_of(pair) is where the
// taps of a pair of weights are. `fixed_pairs` 0 stands for any number.
template <int shift, int fixed_pairs, class LineOf, class Store>
HWY_INLINE void weigh(LineOf&& line_of, const std::int32_t* weights, int pairs, std::int64_t x, Store&& store) {
    const D32 d32;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d32));
    if (fixed_pairs) pairs = fixed_pairs;
    auto sum_0 = hn::Set(d32, 1 << (shift - 1)), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
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

// Each of `count` elements of a line with the one that is the next pixel's, and up to a vector more.
inline void pair_up(const std::uint8_t* line, int channels, int count, std::int32_t* pairs) {
    const D32 d32;
    const hn::Rebind<std::uint8_t, D32> d8;
    const auto lanes = static_cast<int>(hn::Lanes(d32));
    for (int x = 0; x < count; x += lanes) {
        const auto here = hn::PromoteTo(d32, hn::LoadU(d8, line + x));
        const auto next = hn::PromoteTo(d32, hn::LoadU(d8, line + x + channels));
        hn::StoreU(hn::Or(here, hn::ShiftLeft<16>(next)), d32, pairs + x);
    }
}

// One row's results, up to four vectors more than `count` of them, into a row of pairs: the first of each, or, where
// those are there, the second.
template <int fixed_pairs>
void weigh_row(const std::int32_t* pixels, int channels, const WeightPairs& weights, int taps, int count, bool second,
               std::int32_t* out) {
    const D32 d32;
    const auto lanes = static_cast<int>(hn::Lanes(d32));
    const auto line_of = [&](int pair) { return pixels + 2 * pair * channels; };
    for (int x = 0; x < count; x += 4 * lanes)
        weigh<gaussian_row_shift, fixed_pairs>(
            line_of, weights.even, (taps + 1) / 2, x, [&](V32 r_0, V32 r_1, V32 r_2, V32 r_3) HWY_ATTR {
                auto* to = out + x;
                const auto put = [&](V32 result, int at) HWY_ATTR {
                    if (second) result = hn::Or(hn::LoadU(d32, to + at), hn::ShiftLeft<16>(result));
                    hn::StoreU(result, d32, to + at);
                };
                put(r_0, 0);
                put(r_1, lanes);
                put(r_2, 2 * lanes);
                put(r_3, 3 * lanes);
            });
}

template <int fixed_pairs>
void weigh_column(const std::int32_t* const* rows, const std::int32_t* weights, int pairs, int count,
                  std::uint8_t* out) {
    const hn::Repartition<std::uint8_t, D32> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto weigh_to = [&](int x, std::uint8_t* to) HWY_ATTR {
        weigh<gaussian_column_shift, fixed_pairs>([&](int pair) { return rows[pair]; }, weights, pairs, x,
                                                  [&](V32 r_0, V32 r_1, V32 r_2, V32 r_3) HWY_ATTR {
                                                      hn::StoreU(narrow_to_bytes(d8, r_0, r_1, r_2, r_3), d8, to);
                                                  });
    };
    int x = 0;
    for (; x + step <= count; x += step) weigh_to(x, out + x);
    if (x == count) return;
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
    weigh_to(x, last);
    std::memcpy(out + x, last, static_cast<std::size_t>(count - x));
}

/// Blurs a tile of images of `shape`, row by row. load_row(y, columns, line) puts what the image's row y has of the
/// tile's columns at `line`; out_row(y) says where row y of the tile's result goes, and row_done(y) is called when it
/// is there. `fixed_terms` is weights.terms(), or 0 for any number.
template <int fixed_terms, class LoadRow, class OutRow, class RowDone>
void blur_tile(const GaussianWeights& weights, Border border, const Shape& shape, const WindowTile& tile,
               LoadRow&& load_row, OutRow&& out_row, RowDone&& row_done) {
    const int channels = shape.channels, taps = weights.taps;
    const TileColumns columns(tile, weights.reach, shape, border);
    const int tile_bytes = (tile.x_end - tile.x_begin) * channels;
    const int ring_stride = (tile_bytes + tile_step_px - 1) / tile_step_px * tile_step_px;
    const auto pairs = in_pairs(weights);

    HWY_ALIGN std::uint8_t line[gaussian_line_elements + gaussian_slack];
    HWY_ALIGN std::int32_t pixels[gaussian_line_elements + gaussian_slack];
    HWY_ALIGN std::int32_t ring[gaussian_ring_pairs + gaussian_slack];
    // What vectors read behind the line's end does not reach the result, but shall be defined.
    std::memset(line + columns.count(), 0, gaussian_slack);

    if (taps == 1) {  // whose weight no pair holds
        for (int y = tile.y_begin; y < tile.y_end; ++y) {
            load_row(y, columns, line);
            std::memcpy(out_row(y), line, static_cast<std::size_t>(tile_bytes));
            row_done(y);
        }
        return;
    }

    // Rows are counted from the first one that the tile's windows see; two together are one of the ring's.
    const int ring_rows = taps / 2 + 1;
    const auto ring_row = [&](int row) { return ring + row / 2 % ring_rows * ring_stride; };
    const auto clear = [&](int row) {
        std::memset(ring_row(row), 0, sizeof(std::int32_t) * static_cast<std::size_t>(ring_stride));
    };
    const auto add_row = [&](int row) {
        const int from = border_index(tile.y_begin - weights.reach.before + row, shape.height, border);
        const bool second = row % 2 != 0;
        if (from < 0) {  // zeros stand there for a second one already
            if (!second) clear(row);
            return;
        }
        load_row(from, columns, line + columns.line_begin());
        columns.fill_border(line);
        pair_up(line, channels, columns.count() + tile_step_px, pixels);
        weigh_row<fixed_terms>(pixels, channels, pairs, taps, tile_bytes, second, ring_row(row));
    };
    if (taps % 2 == 0) clear(taps);  // a row that the first windows do not see
    for (int row = 0; row < taps - 1; ++row) add_row(row);
    const std::int32_t* rows[most_pairs];
    for (int y = tile.y_begin; y < tile.y_end; ++y) {
        const int first = y - tile.y_begin;
        add_row(first + taps - 1);
        for (int pair = 0; pair < ring_rows; ++pair) rows[pair] = ring_row(first + 2 * pair);
        const auto weigh_rows = taps % 2 ? weigh_column<fixed_terms> : weigh_column<0>;
        weigh_rows(rows, first % 2 ? pairs.odd : pairs.even, ring_rows, tile_bytes, out_row(y));
        row_done(y);
    }
}

}  // namespace framewire::HWY_NAMESPACE::gaussian_passes
HWY_AFTER_NAMESPACE();

#endif
