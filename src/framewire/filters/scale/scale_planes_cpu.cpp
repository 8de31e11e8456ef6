#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/scale/scale_planes.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/scale/scale_planes_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"

// Resizing on the CPU if neighbouring pixels of the result read nearly the same source pixels. Per tile of columns:
//
//   split_row()        each row of the image once: channels to planes, kept in a ring of rows
//   combine_planes()   column pass: rows of the ring -> line, channel by channel
//   weigh_rows()       row pass: blocks of four pixels by shuffles and multiply-adds, and interleaving

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of one block of four pixels, or of two if they are 32 bytes wide.
using PlaneBytes = hn::CappedTag<std::uint8_t, 32>;
using PlaneHalves = hn::Repartition<std::int16_t, PlaneBytes>;
using PlaneWords = hn::Repartition<std::int32_t, PlaneBytes>;
// Bytes per vector, 16 or 32.
constexpr int plane_lanes = static_cast<int>(hn::MaxLanes(PlaneBytes()));

// Samples of the image per tile, over all channels; a multiple of the vector length.
constexpr int tile_samples = 3 * 1024;
// Pixels of the image per tile.
constexpr int tile_px(int channels) { return tile_samples / channels; }
// Vectors write, and blocks read, up to this many pixels beyond a tile.
constexpr int tile_slack_px = 64;
// Distance from one channel of a tile's row to the next.
constexpr std::int64_t channel_samples(int channels) { return tile_px(channels) + tile_slack_px; }

// Working memory of a tile: the image rows that it reads, with separate channels, and one row of results of the column
// pass.
struct ScaleTile {
    // Image row y is stored at index y modulo the number of taps.
    HWY_ALIGN std::uint8_t rows[scale_planes_most_taps][tile_samples + 3 * tile_slack_px];
    // Results of the column pass, channel by channel.
    HWY_ALIGN std::int16_t line[tile_samples + 3 * tile_slack_px];
    int row_at[scale_planes_most_taps];  // image row in each of `rows`, or -1
    int begin, count;                    // pixels of the tile, in whole vectors; some may lie beyond the image
};

// Interleaving bytes of two 32-byte vectors works within their halves. Exchanging the middle quarters first leaves the
// results in order.
HWY_INLINE hn::Vec<PlaneBytes> quarters_in_turn(hn::Vec<PlaneBytes> bytes) {
    if constexpr (plane_lanes == 32) {
        const hn::Repartition<std::uint64_t, PlaneBytes> d64;
        HWY_ALIGN static constexpr std::int64_t order[4] = {0, 2, 1, 3};
        return hn::BitCast(PlaneBytes(),
                           hn::TableLookupLanes(hn::BitCast(d64, bytes), hn::SetTableIndices(d64, order)));
    } else {
        return bytes;
    }
}

// Splits the tile's pixels of an image row, `width` pixels wide, into channels.
template <int channels>
void split_row(const std::uint8_t* row, int width, const ScaleTile& tile, std::uint8_t* to) {
    const PlaneBytes d8;
    constexpr auto next = channel_samples(channels);
    for (int x = 0; x < tile.count; x += plane_lanes) {
        const auto* from = row + std::int64_t{channels} * (tile.begin + x);
        HWY_ALIGN std::uint8_t last[3 * plane_lanes];
        if (const int left = width - tile.begin - x; left < plane_lanes) {
            std::memcpy(last, from, static_cast<std::size_t>(channels * left));
            std::memset(last + channels * left, 0, static_cast<std::size_t>(channels * (plane_lanes - left)));
            from = last;
        }
        if constexpr (channels == 3) {
            hn::Vec<PlaneBytes> b, g, r;
            hn::LoadInterleaved3(d8, from, b, g, r);
            hn::Store(quarters_in_turn(b), d8, to + x);
            hn::Store(quarters_in_turn(g), d8, to + next + x);
            hn::Store(quarters_in_turn(r), d8, to + 2 * next + x);
        } else {
            hn::Store(quarters_in_turn(hn::LoadU(d8, from)), d8, to + x);
        }
    }
}

// Loads two adjacent weights, as multiply_add_pairs() takes them.
HWY_INLINE std::int32_t two_weights(const std::int16_t* weights) {
    std::int32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return pair;
}

// Column pass for one channel. `fixed_pairs` 0 means any number.
template <int fixed_pairs>
HWY_INLINE void combine_planes(const std::uint8_t* const* rows, const std::int16_t* weights, int pairs, int count,
                               std::int16_t* line) {
    const PlaneBytes d8;
    const PlaneHalves d16;
    const PlaneWords d32;
    if (fixed_pairs) pairs = fixed_pairs;
    const auto zero = hn::Zero(d8);
    for (int x = 0; x < count; x += plane_lanes) {
        auto sum_0 = hn::Set(d32, 1 << (scale_column_shift - 1)), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
#pragma GCC unroll 4
        for (int pair = 0; pair < pairs; ++pair) {
            const auto even = hn::Load(d8, rows[2 * pair] + x), odd = hn::Load(d8, rows[2 * pair + 1] + x);
            const auto weight = hn::BitCast(d16, hn::Set(d32, two_weights(weights + 2 * pair)));
            // Bytes of two rows next to each other, widened by interleaving with zeros.
            const auto low = hn::InterleaveLower(d8, even, odd), high = hn::InterleaveUpper(d8, even, odd);
            const auto weigh = [&](hn::Vec<PlaneBytes> taps)
                                   HWY_ATTR { return multiply_add_pairs(d32, hn::BitCast(d16, taps), weight); };
            sum_0 = hn::Add(sum_0, weigh(hn::InterleaveLower(d8, low, zero)));
            sum_1 = hn::Add(sum_1, weigh(hn::InterleaveUpper(d8, low, zero)));
            sum_2 = hn::Add(sum_2, weigh(hn::InterleaveLower(d8, high, zero)));
            sum_3 = hn::Add(sum_3, weigh(hn::InterleaveUpper(d8, high, zero)));
        }
        const auto packed = [&](hn::Vec<PlaneWords> lower, hn::Vec<PlaneWords> upper) HWY_ATTR {
            return hn::ReorderDemote2To(d16, hn::ShiftRight<scale_column_shift>(lower),
                                        hn::ShiftRight<scale_column_shift>(upper));
        };
        hn::Store(packed(sum_0, sum_1), d16, line + x);
        hn::Store(packed(sum_2, sum_3), d16, line + x + plane_lanes / 2);
    }
}

// Loads the blocks of a vector from a channel's line.
HWY_INLINE hn::Vec<PlaneBytes> blocks_of(const std::int16_t* line, std::int64_t first, std::int64_t second) {
    const PlaneHalves d16;
    if constexpr (plane_lanes == 32) {
        const hn::Half<PlaneHalves> half;
        return hn::BitCast(PlaneBytes(),
                           hn::Combine(d16, hn::LoadU(half, line + second), hn::LoadU(half, line + first)));
    } else {
        return hn::BitCast(PlaneBytes(), hn::LoadU(d16, line + first));
    }
}

// Row pass for as many results as a vector has bytes: a group, or half of one.
template <int channels, int fixed_pairs>
HWY_INLINE void weigh_group(const ScaleBlocks& blocks, const ScaleTile& tile, int group, int half,
                            hn::Vec<PlaneBytes>* out) {
    const PlaneBytes d8;
    const PlaneHalves d16;
    const PlaneWords d32;
    const int pairs = fixed_pairs ? fixed_pairs : blocks.pairs;
    constexpr auto line_elements = channel_samples(channels);
    const auto* line = tile.line;
    const std::int64_t begin = tile.begin;
    const auto* first = blocks.first.data() + group * ScaleBlocks::group_blocks + 4 * half;
    hn::Vec<PlaneHalves> halves[channels][2];
#pragma GCC unroll 2
    for (int two = 0; two < 2; ++two) {
        hn::Vec<PlaneWords> sums[channels][2];
#pragma GCC unroll 2
        for (int one = 0; one < 2; ++one) {
            const int vector = 2 * two + one;
            // Shuffle and weights of this vector.
            const auto order = hn::LoadU(d8, blocks.order.data() + (group * 4 + vector) * 32 + 16 * half);
            const auto* weights = blocks.weights.data() + std::int64_t{group * 4 + vector} * pairs * 16 + 8 * half;
            const std::int64_t at = first[vector] - begin, second = plane_lanes == 32 ? first[vector + 4] - begin : 0;
#pragma GCC unroll 3
            for (int channel = 0; channel < channels; ++channel)
                sums[channel][one] = hn::Set(d32, 1 << (scale_row_shift - 1));
#pragma GCC unroll 4
            for (int pair = 0; pair < pairs; ++pair) {
                const auto weight = hn::LoadU(d16, weights + 16 * pair);
#pragma GCC unroll 3
                for (int channel = 0; channel < channels; ++channel) {
                    // Two taps of every pixel of the blocks.
                    const auto taps = hn::TableLookupBytes(
                        blocks_of(line + channel * line_elements, at + 2 * pair, second + 2 * pair), order);
                    sums[channel][one] =
                        hn::Add(sums[channel][one], multiply_add_pairs(d32, hn::BitCast(d16, taps), weight));
                }
            }
        }
#pragma GCC unroll 3
        for (int channel = 0; channel < channels; ++channel)
            halves[channel][two] = hn::ReorderDemote2To(d16, hn::ShiftRight<scale_row_shift>(sums[channel][0]),
                                                        hn::ShiftRight<scale_row_shift>(sums[channel][1]));
    }
#pragma GCC unroll 3
    for (int channel = 0; channel < channels; ++channel)
        out[channel] = narrow_in_blocks(d8, halves[channel][0], halves[channel][1]);
}

// Row pass for groups `begin` to `end` - 1 of a row of the result that is `width` pixels wide.
template <int channels, int fixed_pairs>
void weigh_rows(const ScaleBlocks& blocks, const ScaleTile& tile, int begin, int end, int width, std::uint8_t* out) {
    const PlaneBytes d8;
    const auto store = [&](const hn::Vec<PlaneBytes>* results, std::uint8_t* to) HWY_ATTR {
        if constexpr (channels == 3)
            hn::StoreInterleaved3(results[0], results[1], results[2], d8, to);
        else
            hn::StoreU(results[0], d8, to);
    };
    for (int group = begin; group < end; ++group)
        for (int half = 0; half < ScaleBlocks::group_px / plane_lanes; ++half) {
            const int x = group * ScaleBlocks::group_px + half * plane_lanes;
            hn::Vec<PlaneBytes> results[channels];
            if (x >= width) return;
            weigh_group<channels, fixed_pairs>(blocks, tile, group, half, results);
            auto* to = out + std::int64_t{channels} * x;
            if (width - x >= plane_lanes) {
                store(results, to);
            } else {
                HWY_ALIGN std::uint8_t last[3 * plane_lanes];
                store(results, last);
                std::memcpy(to, last, static_cast<std::size_t>(channels * (width - x)));
            }
        }
}

// End of the groups, starting with `begin`, whose pixels fit a tile; at least one group.
int tile_groups(const ScaleBlocks& blocks, int begin, int most_px) {
    const int first = blocks.group_begin(begin);
    int end = begin + 1;
    while (end < blocks.groups() && blocks.group_begin(end) >= first && blocks.group_end(end) - first <= most_px) ++end;
    return end;
}

// Makes all rows of one tile: splits image rows that are not in the tile yet, then the two passes.
template <int channels>
void scale_tile(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                const ImageRows<std::uint8_t>& out, int begin, int end, ScaleTile& tile) {
    const int width = in.view.shape().width, pairs = columns.stride / 2;
    tile.begin = blocks.group_begin(begin);
    int tile_end = 0;
    for (int group = begin; group < end; ++group) tile_end = std::max(tile_end, blocks.group_end(group));
    tile.count = (std::min(tile_end, width) - tile.begin + plane_lanes - 1) / plane_lanes * plane_lanes;
    std::fill_n(tile.row_at, scale_planes_most_taps, -1);
    const auto combine = pairs == 1 ? combine_planes<1> : pairs == 2 ? combine_planes<2> : combine_planes<0>;
    const auto weigh = blocks.pairs == 1   ? weigh_rows<channels, 1>
                       : blocks.pairs == 2 ? weigh_rows<channels, 2>
                                           : weigh_rows<channels, 0>;
    for (int y = out.range().begin; y < out.range().end; ++y) {
        const int first = columns.first[static_cast<std::size_t>(y)];
        const std::uint8_t* rows[3][scale_planes_most_taps];
        for (int tap = 0; tap < columns.stride; ++tap) {
            // Rows that a previous row of the result has already split are reused.
            const int row = std::min(first + tap, in.range().end - 1), slot = row % columns.stride;
            if (tile.row_at[slot] != row) {
                split_row<channels>(in.row(row), width, tile, tile.rows[slot]);
                tile.row_at[slot] = row;
            }
            for (int channel = 0; channel < channels; ++channel)
                rows[channel][tap] = tile.rows[slot] + channel * channel_samples(channels);
        }
        for (int channel = 0; channel < channels; ++channel)
            combine(rows[channel], columns.weights_of(y), pairs, tile.count,
                    tile.line + channel * channel_samples(channels));
        weigh(blocks, tile, begin, end, out.view.shape().width, out.row(y));
    }
}

}  // namespace

// Makes rows of the result, tile by tile from left to right.
void scale_planes_rows(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                       const ImageRows<std::uint8_t>& out) {
    ScaleTile tile;
    std::memset(tile.line, 0, sizeof tile.line);  // blocks read beyond the image with weight 0; keep it initialised
    for (int begin = 0; begin < blocks.groups();) {
        const int end = tile_groups(blocks, begin, tile_px(in.view.shape().channels));
        if (in.view.shape().channels == 3)
            scale_tile<3>(columns, blocks, in, out, begin, end, tile);
        else
            scale_tile<1>(columns, blocks, in, out, begin, end, tile);
        begin = end;
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(scale_planes_rows);

void scale_rows_in_planes(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                          const ImageRows<std::uint8_t>& out) {
    HWY_DYNAMIC_DISPATCH(scale_planes_rows)(columns, blocks, in, out);
}

}  // namespace framewire

#endif
