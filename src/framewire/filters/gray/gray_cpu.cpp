#include "framewire/core/simd.hpp"
#include "framewire/filters/gray/gray.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/gray/gray_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void gray_pixel(const std::uint8_t* bgr, const GrayWeights& weights, int out_channels, std::uint8_t* out) {
    const int gray = (weights.b * bgr[0] + weights.g * bgr[1] + weights.r * bgr[2] + weights.rounding) >> gray_shift;
    for (int channel = 0; channel < out_channels; ++channel) out[channel] = static_cast<std::uint8_t>(gray);
}

// BGR pixels to gray. A block of 16 bytes takes 4 pixels; shuffled to pairs of 16-bit numbers, one multiply-add of pairs
// does B and G, another R, as in OpenCV's own loop.
void gray_from_bgr(const std::uint8_t* in, std::int64_t pixels, const GrayWeights& weights, int out_channels,
                   std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::Repartition<std::int16_t, decltype(d8)> d16;
    const hn::Repartition<std::int32_t, decltype(d8)> d32;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));  // gray pixels a turn
    const auto quarter = step / 4;                               // pixels in one vector of 32-bit sums

    HWY_ALIGN static constexpr std::uint8_t bg_bytes[16] = {0, 255, 1, 255, 3, 255, 4, 255, 6, 255, 7, 255, 9, 255, 10, 255};
    HWY_ALIGN static constexpr std::uint8_t r_bytes[16] = {2, 255, 255, 255, 5,  255, 255, 255,
                                                           8, 255, 255, 255, 11, 255, 255, 255};
    const auto pick_bg = hn::LoadDup128(d8, bg_bytes);
    const auto pick_r = hn::LoadDup128(d8, r_bytes);
    const auto weight_bg =
        hn::BitCast(d16, hn::Set(d32, static_cast<std::int32_t>(static_cast<std::uint16_t>(weights.b)) |
                                          (static_cast<std::int32_t>(weights.g) << 16)));
    const auto weight_r = hn::BitCast(d16, hn::Set(d32, static_cast<std::int32_t>(weights.r)));
    const auto rounding = hn::Set(d32, weights.rounding);
    const auto spread = blocks_of_12_bytes(d8);

    const auto quarter_of_gray = [&](const std::uint8_t* bgr) HWY_ATTR {
        const auto bytes = spread(hn::LoadU(d8, bgr));
        const auto bg = hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, pick_bg));
        const auto r = hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, pick_r));
        const auto sum = hn::Add(multiply_add_pairs(d32, bg, weight_bg), multiply_add_pairs(d32, r, weight_r));
        return hn::ShiftRight<gray_shift>(hn::Add(sum, rounding));
    };

    std::int64_t x = 0;
    // A quarter's load reads a whole vector but uses 12 of every 16 bytes: the last turns stop short of the row's end.
    const auto last = pixels - step - (quarter + 2) / 3;
    for (; x <= last; x += step) {
        const auto* bgr = in + 3 * x;
        const auto q0 = quarter_of_gray(bgr);
        const auto q1 = quarter_of_gray(bgr + 3 * quarter);
        const auto q2 = quarter_of_gray(bgr + 6 * quarter);
        const auto q3 = quarter_of_gray(bgr + 9 * quarter);
        const auto gray = narrow_to_bytes(d8, q0, q1, q2, q3);
        if (out_channels == 1)
            hn::StoreU(gray, d8, out + x);
        else
            hn::StoreInterleaved3(gray, gray, gray, d8, out + 3 * x);
    }
    for (; x < pixels; ++x) gray_pixel(in + 3 * x, weights, out_channels, out + x * out_channels);
}

// A gray image's pixels once (channels 1) or three times.
void gray_from_gray(const std::uint8_t* in, std::int64_t pixels, int out_channels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        const auto gray = hn::LoadU(d8, in + x);
        if (out_channels == 1)
            hn::StoreU(gray, d8, out + x);
        else
            hn::StoreInterleaved3(gray, gray, gray, d8, out + 3 * x);
    }
    for (; x < pixels; ++x)
        for (int channel = 0; channel < out_channels; ++channel) out[x * out_channels + channel] = in[x];
}

}  // namespace

void gray_span(const std::uint8_t* in, int in_channels, std::int64_t pixels, const GrayWeights& weights, int out_channels,
               std::uint8_t* out) {
    if (in_channels == 3)
        gray_from_bgr(in, pixels, weights, out_channels, out);
    else
        gray_from_gray(in, pixels, out_channels, out);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/spans.hpp"

namespace framewire {

HWY_EXPORT(gray_span);

void Gray::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "gray's image");
    validate(images.out, output_shape(), "gray's result");
    const auto weights = gray_weights(parameters_.method);
    for_pixel_spans(executor_->pool(), images.in, images.out,
                    [&](const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels) {
                        HWY_DYNAMIC_DISPATCH(gray_span)(in, shape_.channels, pixels, weights, parameters_.channels, out);
                    });
}

}  // namespace framewire

#endif
