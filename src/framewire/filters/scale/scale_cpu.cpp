#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/scale/scale.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/scale/scale_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"

// General resizing on the CPU, for images of any scale factor. Per row of the result:
//
//   combine_rows()   rows of the image -> one line of 16-bit numbers (column pass)
//   scale_row()      line -> row of the result (row pass)
//
// Scale factors of about one half or more use scale_planes_cpu.cpp instead, which is faster.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Loads two adjacent weights, as multiply_add_pairs() takes them.
HWY_INLINE std::int32_t weight_pair(const std::int16_t* weights) {
    std::int32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return pair;
}

// The rows of the image that contribute to one row of the result.
struct Columns {
    // First of the rows.
    const std::uint8_t* first;
    std::int64_t stride_bytes;
    int last;                     // number of rows available after the first one; later ones have weight 0
    const std::int16_t* weights;  // one per row
    int taps;

    // The row for a tap.
    const std::uint8_t* row(int tap) const { return first + std::min(tap, last) * stride_bytes; }
};

// Column pass for as many elements at `x` as two 16-bit vectors hold.
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
    // Shift, saturate to 16 bits and store.
    const auto store = [&](auto low, auto high, std::int16_t* to) HWY_ATTR {
        hn::StoreU(hn::ReorderDemote2To(d16, hn::ShiftRight<scale_column_shift>(low),
                                        hn::ShiftRight<scale_column_shift>(high)),
                   d16, to);
    };
    store(sum_0, sum_1, line + x);
    store(sum_2, sum_3, line + x + half);
}

// Column pass for a whole row; the last vectors overlap the previous ones.
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
    if (count % step != 0) combine_at(columns, count - step, line);  // recompute some elements
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

// Row pass for one BGR pixel. `fixed_taps` 0 means any number.
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

// Row pass for a row of BGR, four pixels at a time.
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

// Row pass for one gray pixel: eight taps at a time, whose products add up to four partial sums.
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

// Row pass for a row of gray, eight pixels at a time.
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

// Makes rows of the result: the column pass into one line, then the row pass, row by row.
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

#include "framewire/filters/scale/scale_planes.hpp"
#include "framewire/filters/spans.hpp"

namespace framewire {

HWY_EXPORT(scale_rows);

// Blocks exist if the faster method applies.
void Scale::make_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    if (blocks_.empty())
        HWY_DYNAMIC_DISPATCH(scale_rows)(columns_, rows_, in, out);
    else
        scale_rows_in_planes(columns_, blocks_, in, out);
}

void Scale::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, from_, "scale's image");
    validate(images.out, to_, "scale's result");
    // As many rows that neighbouring rows of the result, which read the same rows of the image, find them in a core's
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
    validate_rows(in, from_, "scale's rows");
    validate_rows(out, to_, "scale's resulting rows");
    make_rows(in, out);
}

}  // namespace framewire

#endif
