// The Gaussian's rows and columns in vectors, for every pass that blurs; compiled once for each instruction set:
// include inside a SIMD source, after <hwy/highway.h>, without an include guard of the usual kind.

// Not for one instruction set.
#ifndef FRAMEWIRE_GAUSSIAN_INL_ONCE
#define FRAMEWIRE_GAUSSIAN_INL_ONCE

#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

// A tile's working memory is on the stack: a padded line, and a ring of as many rows' results as there are taps. Tiles
// are as wide as keeps the ring in L1 (32 KiB of it), but not narrower than this:
inline constexpr int gaussian_least_tile_bytes = 2 * tile_step_px * 3;
inline constexpr int gaussian_most_tile_bytes = 6144;
inline constexpr int gaussian_near_elements = 16 * 1024;
inline constexpr int gaussian_ring_elements = max_window_px * gaussian_least_tile_bytes;
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

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

HWY_INLINE V16 load_16(const std::uint8_t* from) {
    return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<std::uint8_t, D16>(), from));
}
HWY_INLINE V16 load_16(const std::int16_t* from) { return hn::LoadU(D16(), from); }

// The lines that a weight's two taps are on: one row moved left and right, or two rows' results.
template <class T>
struct TapLines {
    const T* first[(max_window_px + 1) / 2];
    const T* second[(max_window_px + 1) / 2];
};

// Weights two by two, as multiply_add_pairs takes them; an odd number is made even by a zero.
struct WeightPairs {
    int terms;
    std::int32_t pairs[(max_window_px + 1) / 4 + 1];
};

inline WeightPairs in_pairs(const GaussianWeights& weights) {
    WeightPairs result{.terms = weights.terms(), .pairs = {}};
    for (int term = 0; term < result.terms; ++term)
        result.pairs[term / 2] |= std::int32_t{weights.folded[term]} << (term % 2 ? 16 : 0);
    return result;
}

// Two vectors of 16-bit results from x on: (sum of weights times taps + half of 2^shift) >> shift. Interleaving puts
// two taps of each element side by side, and packing undoes its order. `fixed_terms` 0 stands for any number.
template <int shift, int fixed_terms, class T, class Store>
HWY_INLINE void weigh(const TapLines<T>& lines, const WeightPairs& weights, std::int64_t x, Store&& store) {
    const D16 d16;
    const D32 d32;
    const auto half = static_cast<std::int64_t>(hn::Lanes(d16));
    const int terms = fixed_terms ? fixed_terms : weights.terms;
    const auto tap = [&](int term, std::int64_t at) HWY_ATTR {
        return hn::Add(load_16(lines.first[term] + at), load_16(lines.second[term] + at));
    };
    auto sum_0 = hn::Set(d32, 1 << (shift - 1)), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
#pragma GCC unroll 4
    for (int term = 0; term < terms; term += 2) {
        const bool pair = term + 1 < terms;
        const auto weight = hn::BitCast(d16, hn::Set(d32, weights.pairs[term / 2]));
        const auto even = tap(term, x), odd = pair ? tap(term + 1, x) : hn::Zero(d16);
        sum_0 = hn::Add(sum_0, multiply_add_pairs(d32, hn::InterleaveLower(d16, even, odd), weight));
        sum_1 = hn::Add(sum_1, multiply_add_pairs(d32, hn::InterleaveUpper(d16, even, odd), weight));
        const auto next_even = tap(term, x + half), next_odd = pair ? tap(term + 1, x + half) : hn::Zero(d16);
        sum_2 = hn::Add(sum_2, multiply_add_pairs(d32, hn::InterleaveLower(d16, next_even, next_odd), weight));
        sum_3 = hn::Add(sum_3, multiply_add_pairs(d32, hn::InterleaveUpper(d16, next_even, next_odd), weight));
    }
    store(hn::ReorderDemote2To(d16, hn::ShiftRight<shift>(sum_0), hn::ShiftRight<shift>(sum_1)),
          hn::ReorderDemote2To(d16, hn::ShiftRight<shift>(sum_2), hn::ShiftRight<shift>(sum_3)));
}

// One row's results, up to two vectors more than `count` of them.
template <int fixed_terms>
void weigh_row(const std::uint8_t* line, int channels, const WeightPairs& weights, int taps, int count,
               std::int16_t* out) {
    const D16 d16;
    const auto half = static_cast<int>(hn::Lanes(d16));
    TapLines<std::uint8_t> lines;
    for (int term = 0; term < weights.terms; ++term) {
        lines.first[term] = line + term * channels;
        lines.second[term] = line + (taps - 1 - term) * channels;
    }
    for (int x = 0; x < count; x += 2 * half)
        weigh<gaussian_row_shift, fixed_terms>(lines, weights, x, [&](V16 low, V16 high) HWY_ATTR {
            hn::StoreU(low, d16, out + x);
            hn::StoreU(high, d16, out + x + half);
        });
}

template <int fixed_terms>
void weigh_column(const TapLines<std::int16_t>& lines, const WeightPairs& weights, int count, std::uint8_t* out) {
    const hn::Repartition<std::uint8_t, D16> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto weigh_to = [&](int x, std::uint8_t* to) HWY_ATTR {
        weigh<gaussian_column_shift, fixed_terms>(lines, weights, x, [&](V16 low, V16 high) HWY_ATTR {
            hn::StoreU(hn::ConcatEven(d8, hn::BitCast(d8, high), hn::BitCast(d8, low)), d8, to);
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

    HWY_ALIGN std::uint8_t line[gaussian_most_tile_bytes + (tile_step_px + max_window_px) * 3 + gaussian_slack];
    HWY_ALIGN std::int16_t ring[gaussian_ring_elements + gaussian_slack];
    // What vectors read behind the line's end does not reach the result, but shall be defined.
    std::memset(line + columns.count(), 0, gaussian_slack);

    const auto ring_row = [&](int y) { return ring + (y - tile.y_begin + weights.reach.before) % taps * ring_stride; };
    const auto add_row = [&](int y) {
        const int from = border_index(y, shape.height, border);
        if (from < 0) {
            std::memset(ring_row(y), 0, sizeof(std::int16_t) * static_cast<std::size_t>(ring_stride));
            return;
        }
        load_row(from, columns, line + columns.line_begin());
        columns.fill_border(line);
        weigh_row<fixed_terms>(line, channels, pairs, taps, tile_bytes, ring_row(y));
    };
    for (int y = tile.y_begin - weights.reach.before; y < tile.y_begin + weights.reach.after; ++y) add_row(y);
    TapLines<std::int16_t> lines;
    for (int y = tile.y_begin; y < tile.y_end; ++y) {
        add_row(y + weights.reach.after);
        for (int term = 0; term < pairs.terms; ++term) {
            lines.first[term] = ring_row(y - weights.reach.before + term);
            lines.second[term] = ring_row(y + weights.reach.after - term);
        }
        weigh_column<fixed_terms>(lines, pairs, tile_bytes, out_row(y));
        row_done(y);
    }
}

}  // namespace framewire::HWY_NAMESPACE::gaussian_passes
HWY_AFTER_NAMESPACE();

#endif
