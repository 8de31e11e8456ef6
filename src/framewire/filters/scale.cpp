#include "framewire/filters/scale.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/geometry.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/scale.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <cstring>

// General resizing on the CPU, for any scale factor. For each row of the result:
//
//   combine_rows()   rows of the image -> one line of 16-bit numbers (column pass)
//   scale_row()      line -> row of the result (row pass)
//
// Scale factors of about one half or more use scale_rows_in_planes() instead, which is faster.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Loads two adjacent weights in the form that multiply_add_pairs() takes.
HWY_INLINE std::int32_t weight_pair(const std::int16_t* weights) {
    std::int32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return pair;
}

// The rows of the image that contribute to one row of the result.
struct Columns {
    // The first of the rows.
    const std::uint8_t* first;
    std::int64_t stride_bytes;
    int last;                     // number of rows available after the first one; later ones have weight 0
    const std::int16_t* weights;  // one per row
    int taps;

    // Returns the row for a tap.
    const std::uint8_t* row(int tap) const { return first + std::min(tap, last) * stride_bytes; }
};

// Runs the column pass for as many elements at `x` as two 16-bit vectors hold.
HWY_INLINE void combine_at(const Columns& columns, std::int64_t x, std::int16_t* line) {
    const hn::ScalableTag<std::int16_t> d16;
    const hn::RepartitionToWide<decltype(d16)> d32;
    const hn::Rebind<std::uint8_t, decltype(d16)> d8;
    const auto half = static_cast<std::int64_t>(hn::Lanes(d16));
    const auto load = [&](const std::uint8_t* from) HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, from)); };
    auto sum_0 = hn::Set(d32, 1 << (scale_column_shift - 1)), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
    for (int tap = 0; tap < columns.taps; tap += 2) {
        const auto *even = columns.row(tap) + x, *odd = columns.row(tap + 1) + x;
        const auto weight = hn::BitCast(d16, hn::Set(d32, weight_pair(columns.weights + tap)));
        const auto even_0 = load(even), odd_0 = load(odd), even_1 = load(even + half), odd_1 = load(odd + half);
        sum_0 = hn::Add(sum_0, multiply_add_pairs(d32, hn::InterleaveLower(d16, even_0, odd_0), weight));
        sum_1 = hn::Add(sum_1, multiply_add_pairs(d32, hn::InterleaveUpper(d16, even_0, odd_0), weight));
        sum_2 = hn::Add(sum_2, multiply_add_pairs(d32, hn::InterleaveLower(d16, even_1, odd_1), weight));
        sum_3 = hn::Add(sum_3, multiply_add_pairs(d32, hn::InterleaveUpper(d16, even_1, odd_1), weight));
    }
    // Shifts, saturates to 16 bits and stores.
    const auto store = [&](auto low, auto high, std::int16_t* to) HWY_ATTR {
        hn::StoreU(hn::ReorderDemote2To(d16, hn::ShiftRight<scale_column_shift>(low),
                                        hn::ShiftRight<scale_column_shift>(high)),
                   d16, to);
    };
    store(sum_0, sum_1, line + x);
    store(sum_2, sum_3, line + x + half);
}

// Runs the column pass for a whole row; the last vectors overlap the previous ones.
void combine_rows(const Columns& columns, std::int64_t count, std::int16_t* line) {
    const auto step = 2 * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::int16_t>()));
    if (count < step) {
        for (std::int64_t x = 0; x < count; ++x) {
            int sum = 1 << (scale_column_shift - 1);
            for (int tap = 0; tap < columns.taps; ++tap) sum += columns.weights[tap] * columns.row(tap)[x];
            line[x] = static_cast<std::int16_t>(std::clamp(sum >> scale_column_shift, -32768, 32767));
        }
        return;
    }
    for (std::int64_t x = 0; x + step <= count; x += step) combine_at(columns, x, line);
    if (count % step != 0) combine_at(columns, count - step, line);  // recomputes some elements
}

// Types for the row pass of BGR: sums of blue, green, red and an unused lane per pixel.
using Block16 = hn::Full128<std::int16_t>;
using Block32 = hn::Full128<std::int32_t>;
using Block8 = hn::Full128<std::uint8_t>;

// Rearranges two BGR pixels, from 16 bytes of 16-bit numbers, to pairs: b0 b1 g0 g1 r0 r1, and two unused numbers.
HWY_INLINE hn::Vec<Block16> pixel_pair(const std::int16_t* pixels) {
    HWY_ALIGN static constexpr std::uint8_t order[16] = {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, 12, 13, 14, 15};
    const Block8 d8;
    return hn::BitCast(Block16(),
                       hn::TableLookupBytes(hn::BitCast(d8, hn::LoadU(Block16(), pixels)), hn::Load(d8, order)));
}

// Runs the row pass for one BGR pixel. `fixed_taps` is 0 if their number is not known at compile time.
template <int fixed_taps>
HWY_INLINE hn::Vec<Block32> weigh_bgr(const std::int16_t* pixels, const std::int16_t* weights, int taps) {
    const Block32 d32;
    auto sum = hn::Set(d32, 1 << (scale_row_shift - 1));
    if (fixed_taps) taps = fixed_taps;
#pragma GCC unroll 6
    for (int tap = 0; tap < taps; tap += 2)
        sum = hn::Add(sum, multiply_add_pairs(d32, pixel_pair(pixels + 3 * tap),
                                              hn::BitCast(Block16(), hn::Set(d32, weight_pair(weights + tap)))));
    return hn::ShiftRight<scale_row_shift>(sum);
}

// Converts two vectors of 32-bit numbers to bytes, with saturation.
HWY_INLINE hn::Vec<hn::Half<Block8>> to_bytes(hn::Vec<Block32> low, hn::Vec<Block32> high) {
    return hn::DemoteTo(hn::Half<Block8>(), hn::ReorderDemote2To(Block16(), low, high));
}

// Runs the row pass for a row of BGR, four pixels at a time.
template <int fixed_taps>
void scale_row_bgr(const ScaleAxis& axis, const std::int16_t* line, std::uint8_t* out) {
    HWY_ALIGN static constexpr std::uint8_t without_fourth[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
    const Block8 d8;
    const auto order = hn::Load(d8, without_fourth);
    const auto four = [&](int x) HWY_ATTR {
        hn::Vec<Block32> pixel[4];
        for (int index = 0; index < 4; ++index) {
            const int at = std::min(x + index, axis.to - 1);
            pixel[index] = weigh_bgr<fixed_taps>(line + 3 * axis.first[static_cast<std::size_t>(at)],
                                                 axis.weights_of(at), axis.stride);
        }
        return hn::TableLookupBytes(hn::Combine(d8, to_bytes(pixel[2], pixel[3]), to_bytes(pixel[0], pixel[1])), order);
    };
    int x = 0;
    for (; 3 * x + 16 <= 3 * axis.to; x += 4) hn::StoreU(four(x), d8, out + 3 * x);
    for (; x < axis.to; x += 4) {
        HWY_ALIGN std::uint8_t last[16];
        hn::Store(four(x), d8, last);
        std::memcpy(out + 3 * x, last, static_cast<std::size_t>(3 * std::min(axis.to - x, 4)));
    }
}

// Runs the row pass for one gray pixel: eight taps at a time, whose products add up to four partial sums.
template <int fixed_taps>
HWY_INLINE hn::Vec<Block32> weigh_gray(const std::int16_t* pixels, const std::int16_t* weights, int taps) {
    const Block32 d32;
    auto sum = hn::Zero(d32);
    if (fixed_taps) taps = fixed_taps;
    for (int tap = 0; tap < taps; tap += 8)
        sum = hn::Add(sum,
                      multiply_add_pairs(d32, hn::LoadU(Block16(), pixels + tap), hn::LoadU(Block16(), weights + tap)));
    return sum;
}

// Runs the row pass for a row of gray, eight pixels at a time.
template <int fixed_taps>
void scale_row_gray(const ScaleAxis& axis, const std::int16_t* line, std::uint8_t* out) {
    const Block32 d32;
    const auto bias = hn::Set(d32, 1 << (scale_row_shift - 1));
    const auto four = [&](int x) HWY_ATTR {
        // Four partial sums per pixel.
        hn::Vec<Block32> sums[4];
        for (int index = 0; index < 4; ++index) {
            const int at = std::min(x + index, axis.to - 1);
            sums[index] = weigh_gray<fixed_taps>(line + axis.first[static_cast<std::size_t>(at)], axis.weights_of(at),
                                                 axis.stride);
        }
        // Adds the four partial sums of each pixel by transposing.
        const auto added = [&](auto a, auto b) HWY_ATTR {
            return hn::Add(hn::InterleaveLower(d32, a, b), hn::InterleaveUpper(d32, a, b));
        };
        const auto first = added(sums[0], sums[1]), second = added(sums[2], sums[3]);
        const auto all = hn::Add(hn::ConcatLowerLower(d32, second, first), hn::ConcatUpperUpper(d32, second, first));
        return hn::ShiftRight<scale_row_shift>(hn::Add(all, bias));
    };
    int x = 0;
    for (; x + 8 <= axis.to; x += 8) hn::StoreU(to_bytes(four(x), four(x + 4)), hn::Half<Block8>(), out + x);
    for (; x < axis.to; x += 8) {
        std::uint8_t last[8];
        hn::StoreU(to_bytes(four(x), four(x + 4)), hn::Half<Block8>(), last);
        std::memcpy(out + x, last, static_cast<std::size_t>(std::min(axis.to - x, 8)));
    }
}

// Dispatches on channels and on common numbers of taps.
void scale_row(const ScaleAxis& axis, int channels, const std::int16_t* line, std::uint8_t* out) {
    if (channels == 1)
        return axis.stride == 8 ? scale_row_gray<8>(axis, line, out) : scale_row_gray<0>(axis, line, out);
    switch (axis.stride) {
        case 2: return scale_row_bgr<2>(axis, line, out);
        case 4: return scale_row_bgr<4>(axis, line, out);
        case 6: return scale_row_bgr<6>(axis, line, out);
        case 8: return scale_row_bgr<8>(axis, line, out);
        default: return scale_row_bgr<0>(axis, line, out);
    }
}

}  // namespace

// Computes rows of the result one by one: the column pass into a line, then the row pass.
void scale_rows(const ScaleAxis& columns, const ScaleAxis& rows, const ImageRows<const std::uint8_t>& in,
                const ImageRows<std::uint8_t>& out) {
    const int channels = in.view.shape().channels;
    const auto count = in.view.shape().row_bytes();
    // Vectors read up to this many elements beyond the line; their weights are 0.
    constexpr int slack = 3 * 8 + 16;
    HWY_ALIGN std::int16_t line[max_side_px * 3 + slack];
    std::fill_n(line + count, slack, std::int16_t{0});
    for (int y = out.range().begin; y < out.range().end; ++y) {
        const int first = columns.first[static_cast<std::size_t>(y)];
        combine_rows({in.row(first), in.view.row_stride_bytes(), in.range().end - 1 - first, columns.weights_of(y),
                      columns.stride},
                     count, line);
        scale_row(rows, channels, line, out.row(y));
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/scale.hpp"
#include "framewire/filters/window.hpp"

namespace framewire {

HWY_EXPORT(scale_rows);

// Blocks exist if the faster method can be used.
void Scale::make_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    if (blocks_.empty())
        HWY_DYNAMIC_DISPATCH(scale_rows)(columns_, rows_, in, out);
    else
        scale_rows_in_planes(columns_, blocks_, in, out);
}

void Scale::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, from_, "scale's image");
    validate(images.out, to_, "scale's result");
    // Chunks are so large that neighbouring rows of the result, which read the same image rows, find them in a core's
    // L2 cache.
    const auto bytes_a_row = to_.row_bytes() + from_.row_bytes() * std::max(from_.height / to_.height, 1);
    const auto rows_each = std::max<std::int64_t>(span_bytes / bytes_a_row, 1);
    const auto bands = (to_.height + rows_each - 1) / rows_each;
    executor_->pool().for_chunks(to_.frames * bands, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const auto frame = static_cast<int>(index / bands), y = static_cast<int>(index % bands * rows_each);
        const RowRange made{y, std::min(y + static_cast<int>(rows_each), to_.height)};
        make_rows(ImageRows(images.in.frames(frame, 1)), ImageRows(images.out.frames(frame, 1)).part(made));
    });
}

RowRange Scale::rows_needed(const RowRange& made) const {
    RowRange need{from_.height, 0};
    for (int y = made.begin; y < made.end; ++y) {
        const int first = columns_.first[static_cast<std::size_t>(y)];
        need = {std::min(need.begin, first), std::max(need.end, std::min(first + columns_.stride, from_.height))};
    }
    return need;
}

void Scale::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, from_, "scale's input rows");
    validate_rows(out, to_, "scale's output rows");
    make_rows(in, out);
}

}  // namespace framewire

#endif

// Resizing on the CPU if neighbouring pixels of the result read nearly the same source pixels. For each tile of
// columns:
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

// Number of image samples per tile, over all channels; a multiple of the vector length.
constexpr int tile_samples = 3 * 1024;
// Returns the number of image pixels per tile.
constexpr int tile_px(int channels) { return tile_samples / channels; }
// Vectors write, and blocks read, up to this many pixels beyond a tile.
constexpr int tile_slack_px = 64;
// Returns the distance from one channel of a tile's row to the next.
constexpr std::int64_t channel_samples(int channels) { return tile_px(channels) + tile_slack_px; }

// Working memory of a tile: the image rows that it reads, with separate channels, and one row of results of the column
// pass.
struct ScaleTile {
    // Image row y is stored at index y modulo the number of taps.
    HWY_ALIGN std::uint8_t rows[scale_planes_most_taps][tile_samples + 3 * tile_slack_px];
    // Results of the column pass, channel by channel.
    HWY_ALIGN std::int16_t line[tile_samples + 3 * tile_slack_px];
    int row_at[scale_planes_most_taps];  // image row stored in each of `rows`, or -1
    int begin, count;                    // pixels of the tile, in whole vectors; some pixels may lie beyond the image
};

// Exchanges the middle quarters of a 32-byte vector. Interleaving bytes of such vectors works within their halves, so
// this leaves the results in order.
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

// Loads two adjacent weights in the form that multiply_add_pairs() takes.
HWY_INLINE std::int32_t two_weights(const std::int16_t* weights) {
    std::int32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return pair;
}

// Runs the column pass for one channel. `fixed_pairs` is 0 if their number is not known at compile time.
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
            // Interleaves the bytes of two rows, then widens them by interleaving with zeros.
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

// Runs the row pass for as many results as a vector has bytes: a group, or half of one.
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

// Runs the row pass for groups `begin` to `end` - 1 of a row of the result that is `width` pixels wide.
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

// Returns the end of the groups from `begin` on whose pixels fit a tile; at least one group.
int tile_groups(const ScaleBlocks& blocks, int begin, int most_px) {
    const int first = blocks.group_begin(begin);
    int end = begin + 1;
    while (end < blocks.groups() && blocks.group_begin(end) >= first && blocks.group_end(end) - first <= most_px) ++end;
    return end;
}

// Computes all rows of one tile: splits the image rows that are not in the tile yet, then runs the two passes.
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
            // Reuse rows that were split for a previous row of the result.
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

// Computes rows of the result, tile by tile from left to right.
void scale_planes_rows(const ScaleAxis& columns, const ScaleBlocks& blocks, const ImageRows<const std::uint8_t>& in,
                       const ImageRows<std::uint8_t>& out) {
    ScaleTile tile;
    // Blocks read beyond the image with weight 0; the elements must still be initialised.
    std::memset(tile.line, 0, sizeof tile.line);
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

#if HWY_ONCE

// The registry entry of `scale`, the evaluation of its sizes, and the choice of methods for the CPU.

namespace framewire {
namespace {

// Returns the method that a chain names.
ScaleMethod method_from(const ParameterValues& values) {
    const auto& text = values.text("method");
    if (text == "area") return ScaleMethod::area;
    if (text == "bilinear") return ScaleMethod::bilinear;
    return text == "bicubic" ? ScaleMethod::bicubic : ScaleMethod::lanczos;
}

// Returns the shape of the result. Throws Error{usage} if the weights do not belong to the image or a side is too
// large.
Shape scaled(const AxisTaps& down, const AxisTaps& along, const Shape& shape) {
    validate(shape, "scale's image");
    if (down.from != shape.height || along.from != shape.width)
        fail(ErrorCode::usage, "scale's weights are for {}x{}, but the image is {}", along.from, down.from,
             to_string(shape));
    const Shape to{shape.frames, down.to, along.to, shape.channels};
    validate(to, "scale's result");
    return to;
}

// Returns the side that keeps the aspect ratio, given the other side: the nearest multiple of -`asked`, but at least
// one multiple.
int in_ratio(int asked, int other_to, int other_from, int from) {
    const auto multiple = std::int64_t{-asked};
    const auto divisor = multiple * other_from;
    const auto multiples = (2 * std::int64_t{other_to} * from + divisor) / (2 * divisor);
    return static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(multiples, 1) * multiple, max_side_px + 1));
}

// As in FFmpeg, 0 keeps a side, and -N chooses the multiple of N that keeps the aspect ratio.
ScaleParameters scale_parameters(const ParameterValues& values, const Shape& shape) {
    validate(shape, "scale's image");
    const MeasureNames names{shape.width, shape.height};
    constexpr int most_multiple = 256;
    const auto side = [&](const char* name, int whole) {
        const int value = measure(values.text(name), name, whole, names);
        if (value < -most_multiple)
            fail(ErrorCode::usage, "{} '{}' is {}; allowed: a size, 0, or -1 to -{}", name, values.text(name), value,
                 most_multiple);
        return value == 0 ? whole : value;
    };
    int width = side("w", shape.width), height = side("h", shape.height);
    if (width < 0 && height < 0) fail(ErrorCode::usage, "w and h each depend on the other; set at least one of them");
    if (width < 0) width = in_ratio(width, height, shape.height, shape.width);
    if (height < 0) height = in_ratio(height, width, shape.width, shape.height);
    return {width, height, method_from(values)};
}

// Returns the blocks for the CPU, or none if they cannot be used.
ScaleBlocks blocks_for(const ScaleAxis& columns, const ScaleAxis& rows, const Executor& executor) {
    if (executor.backend() != Backend::cpu || columns.stride > scale_planes_most_taps) return {};
    return scale_blocks(rows);
}

}  // namespace

// Computes the weights of a method for images.
Scale::Scale(ScaleParameters parameters, const Shape& shape, Executor& executor)
    : Scale(scale_taps(parameters.method, {shape.height, parameters.height}),
            scale_taps(parameters.method, {shape.width, parameters.width}), shape, executor) {}

// Rounds the weights once; both backends use the same ones.
Scale::Scale(const AxisTaps& down, const AxisTaps& along, const Shape& shape, Executor& executor)
    : from_(shape),
      to_(scaled(down, along, shape)),
      executor_(&executor),
      columns_(scale_axis(down, 2)),
      rows_(scale_axis(along, 2)),
      blocks_(blocks_for(columns_, rows_, executor)) {
    // If columns are not processed in blocks, vectors on the CPU process two taps of BGR or eight of gray at a time.
    if (executor.backend() == Backend::cpu && blocks_.empty() && shape.channels == 1) rows_ = scale_axis(along, 8);
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo scale_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "scale",
        .summary = "resizes the picture",
        .parameters =
            {
                {.name = "w",
                 .help = "width: pixels (640), percentage of the image (50%) or expression with iw and ih (iw/2); -1 "
                         "keeps the aspect ratio, -2 also makes it even, 0 keeps the width",
                 .type = Type::text,
                 .default_value = "-1"},
                {.name = "h", .help = "height, in the same form as w", .type = Type::text, .default_value = "-1"},
                {.name = "method",
                 .help = "area: mean of the covered pixels; bilinear; bicubic: sharper; lanczos: sharpest, with faint "
                         "ringing. All of them average enough pixels to shrink without aliasing",
                 .type = Type::choice,
                 .default_value = "bicubic",
                 .choices = {"area", "bilinear", "bicubic", "lanczos"}},
            },
        .unnamed = 3,
        .examples = {"scale=50%", "scale=w=640:h=-2", "scale=1280:720:lanczos"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                const auto to = scale_parameters(values, shape);
                return scaled(scale_taps(to.method, {shape.height, to.height}),
                              scale_taps(to.method, {shape.width, to.width}), shape);
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Scale>>(scale_parameters(values, shape), shape, executor);
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto to = scale_parameters(values, shape);
            return {.xx = static_cast<double>(to.width) / shape.width,
                    .yy = static_cast<double>(to.height) / shape.height};
        },
        .kind = [](const ParameterValues& values) -> FilterKind { return Resampling{method_from(values)}; },
    };
}

}  // namespace framewire

// Arrangement of an axis's weights for vectors of blocks; see ScaleBlocks for the layout.

namespace framewire {
namespace {

// Number of 16-bit source pixels that contain all taps of a block: one 16-byte shuffle.
constexpr int block_reach = 8;
// Limit on the taps of a pixel. A single pixel may read a whole image, which would not fit a tile.
constexpr int most_taps = 32;

}  // namespace

int ScaleBlocks::group_begin(int group) const {
    const auto* of_group = first.data() + group * group_blocks;
    return *std::min_element(of_group, of_group + group_blocks);
}

// The last pair of taps of a block reads block_reach pixels, counted from the first pixel of the pair.
int ScaleBlocks::group_end(int group) const {
    const auto* of_group = first.data() + group * group_blocks;
    return *std::max_element(of_group, of_group + group_blocks) + 2 * (pairs - 1) + block_reach;
}

// Finds each block's first source pixel, and gives up if a block spans too many pixels; then stores shuffles and
// weights.
ScaleBlocks scale_blocks(const ScaleAxis& axis) {
    constexpr int group_px = ScaleBlocks::group_px, block_px = ScaleBlocks::block_px;
    if (axis.taps > most_taps) return {};
    const int groups = (axis.to + group_px - 1) / group_px;
    ScaleBlocks blocks{.pairs = (axis.taps + 1) / 2};
    const auto first_of = [&](int x) { return axis.first[static_cast<std::size_t>(std::min(x, axis.to - 1))]; };
    for (int x = 0; x < groups * group_px; x += block_px) {
        int least = first_of(x), most = least;
        for (int pixel = 1; pixel < block_px; ++pixel) {
            least = std::min(least, first_of(x + pixel));
            most = std::max(most, first_of(x + pixel));
        }
        if (most - least + 2 > block_reach) return {};
        blocks.first.push_back(least);
    }
    // Store the shuffles of both blocks for every vector, then their weights, pair by pair.
    for (int group = 0; group < groups; ++group)
        for (int two = 0; two < ScaleBlocks::group_blocks / 2; ++two) {
            // Calls body(x, first source pixel of its block) for the eight pixels of a vector.
            const auto each_pixel = [&](auto&& body) {
                for (const int block : {two, two + ScaleBlocks::group_blocks / 2})
                    for (int pixel = 0; pixel < block_px; ++pixel)
                        body(group * group_px + block * block_px + pixel,
                             blocks.first[static_cast<std::size_t>(group * ScaleBlocks::group_blocks + block)]);
            };
            each_pixel([&](int x, int first) {
                const int at = 2 * (first_of(x) - first);
                for (int byte = 0; byte < 4; ++byte) blocks.order.push_back(static_cast<std::uint8_t>(at + byte));
            });
            for (int tap = 0; tap < 2 * blocks.pairs; tap += 2)
                each_pixel([&](int x, int) {
                    const auto* weights = axis.weights_of(std::min(x, axis.to - 1));
                    for (const int one : {tap, tap + 1})
                        blocks.weights.push_back(one < axis.stride ? weights[one] : std::int16_t{0});
                });
        }
    return blocks;
}

}  // namespace framewire

#endif  // HWY_ONCE
