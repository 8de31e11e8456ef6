#include "framewire/filters/mean.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/window.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/mean.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <cstring>

// Compiled once, unlike the code below, which is compiled for each instruction set.
#ifndef FRAMEWIRE_MEAN_CPU_ONCE
#define FRAMEWIRE_MEAN_CPU_ONCE

namespace framewire {

// A tile's working memory is on the stack; its column sums and their prefix sums fit the L1 cache.
inline constexpr int mean_tile_bytes = 12288;
// Vectors may read up to this many elements beyond the end of a line.
inline constexpr int mean_slack = 256;
// Elements of a line, including the margins that windows need.
inline constexpr int mean_line_elements = mean_tile_bytes + (tile_step_px + max_window_px) * 3 + mean_slack;

}  // namespace framewire

#endif

// Column sums over the window's rows are updated from row to row: the entering row is added and the leaving row
// subtracted. Small windows then add up `size` column sums per result; large windows take the difference of two prefix
// sums along the row.
HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Used instead of rows outside the image with Border::zero.
alignas(64) constexpr std::uint8_t black_row[mean_line_elements] = {};

// Computes sums += added - removed. Sums of 255 rows of bytes fit 16 bits.
void slide_down(std::uint16_t* sums, const std::uint8_t* added, const std::uint8_t* removed, int count) {
    const auto slide = [&](auto d16, int x) HWY_ATTR {
        const hn::Rebind<std::uint8_t, decltype(d16)> d8;
        const auto plus = hn::PromoteTo(d16, hn::LoadU(d8, added + x));
        const auto minus = hn::PromoteTo(d16, hn::LoadU(d8, removed + x));
        hn::StoreU(hn::Add(hn::LoadU(d16, sums + x), hn::Sub(plus, minus)), d16, sums + x);
    };
    const hn::ScalableTag<std::uint16_t> d16;
    const hn::CappedTag<std::uint16_t, 8> d16_of_8;
    const auto step = static_cast<int>(hn::Lanes(d16)), small_step = static_cast<int>(hn::Lanes(d16_of_8));
    int x = 0;
    for (; x + 2 * step <= count; x += 2 * step) {
        slide(d16, x);
        slide(d16, x + step);
    }
    for (; x + small_step <= count; x += small_step) slide(d16_of_8, x);
    for (; x < count; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + added[x] - removed[x]);
}

// Stores vector_at(x), a vector of result bytes, for each x that starts a vector. Cuts the last vector off at `count`
// bytes.
template <class Body>
HWY_INLINE void store_row(std::uint8_t* out, int count, Body&& vector_at) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<int>(hn::Lanes(d8));
    int x = 0;
    for (; x + step <= count; x += step) hn::StoreU(vector_at(x), d8, out + x);
    if (x == count) return;
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
    hn::Store(vector_at(x), d8, last);
    std::memcpy(out + x, last, static_cast<std::size_t>(count - x));
}

// Computes a row of a small window: adds up `size` column sums per result, in 16 bits.
void mean_row_of_small_window(const std::uint16_t* sums, int size, int channels, const MeanDivision& division,
                              int count, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::ScalableTag<std::uint16_t> d16;
    const auto half = hn::Lanes(d16);
    const auto bias = hn::Set(d16, static_cast<std::uint16_t>(division.bias));
    const auto multiplier = hn::Set(d16, static_cast<std::uint16_t>(division.multiplier));
    const int shift = division.shift - 16;
    store_row(out, count, [&](int x) HWY_ATTR {
        auto low = bias, high = bias;
        const auto* at = sums + x;
        for (int tap = 0; tap < size; ++tap, at += channels) {
            low = hn::Add(low, hn::LoadU(d16, at));
            high = hn::Add(high, hn::LoadU(d16, at + half));
        }
        low = hn::ShiftRightSame(hn::MulHigh(low, multiplier), shift);
        high = hn::ShiftRightSame(hn::MulHigh(high, multiplier), shift);
        return hn::ConcatEven(d8, hn::BitCast(d8, high), hn::BitCast(d8, low));
    });
}

// Sets prefix[i] to the sum of all column sums before i of the same channel. Reads and writes up to three vectors
// beyond `count`.
template <int channels>
void prefix_sums(const std::uint16_t* sums, int count, std::uint32_t* prefix) {
    const hn::ScalableTag<std::uint32_t> d32;
    const hn::Rebind<std::uint16_t, decltype(d32)> d16;
    using Vector = hn::Vec<decltype(d32)>;
    constexpr int most_lanes = HWY_MAX_BYTES / 4;
    const auto lanes = static_cast<int>(hn::Lanes(d32));
    const auto indices = [&](auto&& from) HWY_ATTR {
        HWY_ALIGN std::int32_t lane_from[most_lanes];
        for (int lane = 0; lane < lanes; ++lane) lane_from[lane] = from(lane);
        return hn::SetTableIndices(d32, lane_from);
    };
    // Within a vector, prefix sums come from adding the vector to itself, moved by 1, 2, 4 and 8 pixels.
    const auto moved_by = [&](int distance) HWY_ATTR {
        return indices([&](int lane) { return lane < distance ? 0 : lane - distance; });
    };
    const auto by_1 = moved_by(channels), by_2 = moved_by(2 * channels), by_4 = moved_by(4 * channels),
               by_8 = moved_by(8 * channels);
    const auto first_1 = hn::FirstN(d32, channels), first_2 = hn::FirstN(d32, 2 * channels),
               first_4 = hn::FirstN(d32, 4 * channels), first_8 = hn::FirstN(d32, 8 * channels);
    const auto scan = [&](int x) HWY_ATTR {
        auto sum = hn::PromoteTo(d32, hn::LoadU(d16, sums + x));
        sum = hn::Add(sum, hn::IfThenZeroElse(first_1, hn::TableLookupLanes(sum, by_1)));
        if (2 * channels < lanes) sum = hn::Add(sum, hn::IfThenZeroElse(first_2, hn::TableLookupLanes(sum, by_2)));
        if (4 * channels < lanes) sum = hn::Add(sum, hn::IfThenZeroElse(first_4, hn::TableLookupLanes(sum, by_4)));
        if (8 * channels < lanes) sum = hn::Add(sum, hn::IfThenZeroElse(first_8, hn::TableLookupLanes(sum, by_8)));
        return sum;
    };
    // Across vectors, `channels` vectors hold a whole number of pixels. A running total is kept separately for each of
    // them, with its lanes in place, so that each step depends on a single addition.
    const auto last_pixel_for = [&](int vectors_on) HWY_ATTR {
        return indices([&](int lane) { return lanes - channels + ((vectors_on - 1) * lanes + lane) % channels; });
    };
    const auto to_next = last_pixel_for(1), to_second_next = last_pixel_for(2), to_third_next = last_pixel_for(3);

    for (int channel = 0; channel < channels; ++channel) prefix[channel] = 0;
    prefix += channels;
    Vector before_first = hn::Zero(d32), before_second = hn::Zero(d32), before_third = hn::Zero(d32);
    for (int x = 0; x < count; x += channels * lanes) {
        auto last = scan(x);
        hn::StoreU(hn::Add(last, before_first), d32, prefix + x);
        if constexpr (channels == 3) {
            last = hn::Add(scan(x + lanes), hn::TableLookupLanes(last, to_next));
            hn::StoreU(hn::Add(last, before_second), d32, prefix + x + lanes);
            last = hn::Add(scan(x + 2 * lanes), hn::TableLookupLanes(last, to_next));
            hn::StoreU(hn::Add(last, before_third), d32, prefix + x + 2 * lanes);
            before_second = hn::Add(before_second, hn::TableLookupLanes(last, to_second_next));
            before_third = hn::Add(before_third, hn::TableLookupLanes(last, to_third_next));
        }
        before_first = hn::Add(before_first, hn::TableLookupLanes(last, to_next));
    }
}

// Computes a row of a large window: each sum is the difference of two prefix sums.
void mean_row_of_large_window(const std::uint32_t* prefix, int size, int channels, const MeanDivision& division,
                              int count, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::ScalableTag<std::uint32_t> d32;
    const hn::RepartitionToWide<decltype(d32)> d64;
    const auto lanes = static_cast<int>(hn::Lanes(d32));
    const auto bias = hn::Set(d32, division.bias);
    const auto multiplier = hn::Set(d32, division.multiplier);
    const int shift = division.shift - 32;
    const auto* behind = prefix + size * channels;
    // (sum + bias) * multiplier >> division.shift, in 64 bits.
    const auto quotient = [&](int x) HWY_ATTR {
        const auto sum = hn::Add(bias, hn::Sub(hn::LoadU(d32, behind + x), hn::LoadU(d32, prefix + x)));
        // 32 x 32-bit products exist for even lanes only, so odd lanes are shifted down and multiplied separately.
        const auto odd = hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, sum)));
        const auto even_high = hn::ShiftRight<32>(hn::MulEven(sum, multiplier));
        const auto odd_high = hn::MulEven(odd, multiplier);
        return hn::ShiftRightSame(hn::OddEven(hn::BitCast(d32, odd_high), hn::BitCast(d32, even_high)), shift);
    };
    store_row(out, count, [&](int x) HWY_ATTR {
        return narrow_to_bytes(d8, quotient(x), quotient(x + lanes), quotient(x + 2 * lanes), quotient(x + 3 * lanes));
    });
}

}  // namespace

// Computes one tile row by row.
void mean_tile(const MeanParameters& parameters, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
               const WindowTile& tile) {
    const auto& shape = in.shape();
    const int channels = shape.channels, size = parameters.size;
    const auto reach = window_reach(size);
    const TileColumns columns(tile, reach, shape, parameters.border);
    const int line_elements = columns.count();
    const int tile_bytes = (tile.x_end - tile.x_begin) * channels;
    const bool small = size <= mean_16_bit_size;
    const auto division = mean_division(size, small ? 16 : 32);

    HWY_ALIGN std::uint16_t sums[mean_line_elements];
    HWY_ALIGN std::uint32_t prefix[mean_line_elements];
    // Elements beyond the line do not affect the result, but vectors read them; keep them initialised.
    std::memset(sums, 0, sizeof(std::uint16_t) * static_cast<std::size_t>(line_elements + mean_slack));
    if (!small) std::memset(prefix + line_elements, 0, sizeof(std::uint32_t) * mean_slack);
    auto* image_sums = sums + columns.line_begin();

    const auto row = [&](int y) {
        const int from = border_index(y, shape.height, parameters.border);
        return from < 0 ? black_row : in.row(tile.frame, from) + columns.image_begin();
    };
    // The first loop starts one row early, because the first step of the second loop removes that row.
    for (int y = tile.y_begin - reach.before - 1; y < tile.y_begin + reach.after; ++y)
        slide_down(image_sums, row(y), black_row, columns.image_count());
    for (int y = tile.y_begin; y < tile.y_end; ++y) {
        slide_down(image_sums, row(y + reach.after), row(y - reach.before - 1), columns.image_count());
        columns.fill_border(sums);
        auto* to = out.row(tile.frame, y) + tile.x_begin * channels;
        if (small) {
            mean_row_of_small_window(sums, size, channels, division, tile_bytes, to);
        } else {
            if (channels == 3)
                prefix_sums<3>(sums, line_elements, prefix);
            else
                prefix_sums<1>(sums, line_elements, prefix);
            mean_row_of_large_window(prefix, size, channels, division, tile_bytes, to);
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(mean_tile);

// Tiles are at least twice as high as the window, because each starts by adding up a whole window.
void Mean::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "mean's image");
    validate(images.out, shape_, "mean's result");
    for_window_tiles(executor_->pool(), shape_, mean_tile_bytes / shape_.channels, 2 * parameters_.size,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(mean_tile)(parameters_, images.in, images.out, tile);
                     });
}

}  // namespace framewire

#endif

#if HWY_ONCE

// The registry entry of `mean`, and the parts of Mean that do not depend on the backend.

namespace framewire {
namespace {

const ParameterFields<MeanParameters>& mean_fields() {
    using P = MeanParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size,
                        {.name = "size",
                         .help = "side of the square window in pixels; even sizes reach one pixel further left and up",
                         .minimum = 1,
                         .maximum = max_window_px}),
        parameter_field(&P::border, border_names, border_parameter()),
    };
    return fields;
}

}  // namespace

Mean::Mean(MeanParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "mean's image");
    mean_fields().check(parameters, "mean");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo mean_info() {
    return {
        .name = "mean",
        .summary = "box blur: mean of each pixel's neighbourhood; removes noise",
        .parameters = mean_fields().infos(),
        .examples = {"mean=7", "mean=3:border=zero"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Mean>>(mean_fields().from(values), shape, executor);
        },
        .kind = [](const ParameterValues& values) -> FilterKind {
            const auto parameters = mean_fields().from(values);
            return SeparableWindow{
                std::vector<double>(static_cast<std::size_t>(parameters.size), 1.0 / parameters.size),
                window_reach(parameters.size).before, parameters.border};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
