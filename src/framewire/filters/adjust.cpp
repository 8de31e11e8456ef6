#include "framewire/filters/adjust.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/adjust.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <cmath>

// adjust_pixel() in vectors of signed 16-bit numbers. The products do not fit 16 bits, but MulFixedPoint15 keeps their
// upper halves, rounded; the factors are scaled so that the results equal the formula's exactly.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using V16 = hn::VFromD<D16>;
using D8 = hn::Rebind<std::uint8_t, D16>;  // half a vector of bytes: as many lanes as D16

// Gain, contrast and brightness. MulFixedPoint15(a, b) is (a * b + 2^14) >> 15; with a = 64 v it equals the formula's
// (v * slope + 2^8) >> 9, including the rounding.
class Levels {
public:
    // Takes slope and offset from the terms.
    explicit Levels(const AdjustTerms& terms)
        : slope_(hn::Set(D16(), terms.slope)), offset_(hn::Set(D16(), terms.offset)) {}
    // Returns the levels of a vector of bytes. They are not clamped; the caller clamps them or calls DemoteTo(), which
    // does.
    V16 operator()(hn::VFromD<D8> bytes) const {
        return hn::Add(hn::MulFixedPoint15(hn::ShiftLeft<6>(hn::PromoteTo(D16(), bytes)), slope_), offset_);
    }

private:
    V16 slope_, offset_;
};

// Weighted gray of levels in 0..255. The sums of products need 32 bits, so even and odd lanes are computed separately.
class Gray {
public:
    // Arranges the weights as pairs for multiply_add_pairs().
    Gray()
        : one_(hn::Set(D16(), 1)),
          weights_bg_(pairs(weights_.b, weights_.g)),
          weights_r1_(pairs(weights_.r, weights_.rounding)) {}

    // Returns the gray values of three vectors of clamped levels.
    V16 operator()(V16 b, V16 g, V16 r) const {
        const auto up = [](V16 v) HWY_ATTR { return hn::BitCast(D16(), hn::ShiftLeft<16>(hn::BitCast(d32_, v))); };
        const auto down = [](V16 v) HWY_ATTR {
            return hn::BitCast(D16(), hn::ShiftRight<16>(hn::BitCast(hn::Repartition<std::uint32_t, D16>(), v)));
        };
        const auto even = weighted(hn::OddEven(up(g), b), hn::OddEven(one_, r));
        const auto odd = weighted(hn::OddEven(g, down(b)), hn::OddEven(one_, down(r)));
        return hn::OddEven(hn::BitCast(D16(), hn::ShiftLeft<16>(odd)), hn::BitCast(D16(), even));
    }

private:
    using D32 = hn::Repartition<std::int32_t, D16>;
    static constexpr D32 d32_{};
    static constexpr GrayWeights weights_ = gray_weights(GrayMethod::weighted);

    // Returns a vector that repeats the pair (even, odd) of weights.
    static V16 pairs(int even, int odd) { return hn::BitCast(D16(), hn::Set(d32_, even | odd << 16)); }
    // Weighted sums of the lanes in `bg` and `r1`, shifted to gray values.
    hn::VFromD<D32> weighted(V16 bg, V16 r1) const {
        const auto sum = hn::Add(multiply_add_pairs(d32_, bg, weights_bg_), multiply_add_pairs(d32_, r1, weights_r1_));
        return hn::ShiftRight<gray_shift>(sum);
    }

    V16 one_, weights_bg_, weights_r1_;
};

// Maps every byte independently, for one-channel images and for colour with neutral saturation.
void adjust_levels(const AdjustTerms& terms, const std::uint8_t* in, std::int64_t bytes, std::uint8_t* out) {
    const D8 d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    const Levels levels(terms);
    std::int64_t at = 0;
    for (; at + step <= bytes; at += step) hn::StoreU(hn::DemoteTo(d8, levels(hn::LoadU(d8, in + at))), d8, out + at);
    for (; at < bytes; ++at) out[at] = static_cast<std::uint8_t>(adjust_level(in[at], terms));
}

// Maps BGR pixels with saturation: each step computes three vectors of levels and then scales their distance from gray.
void adjust_colours(const AdjustTerms& terms, const std::uint8_t* in, std::int64_t pixels, std::uint8_t* out) {
    const D8 d8;
    const D16 d16;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    const Levels levels(terms);
    const Gray gray_of;
    const auto saturation = hn::Set(d16, static_cast<std::int16_t>(2 * terms.saturation));
    const auto least = hn::Zero(d16), most = hn::Set(d16, 255);
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<D8> b8, g8, r8;
        hn::LoadInterleaved3(d8, in + 3 * x, b8, g8, r8);
        const auto hold = [&](V16 v) HWY_ATTR { return hn::Min(hn::Max(v, least), most); };
        const auto b = hold(levels(b8)), g = hold(levels(g8)), r = hold(levels(r8));
        const auto gray = gray_of(b, g, r);
        // (64 d * 2 s + 2^14) >> 15 = (d * s + 2^7) >> 8.
        const auto saturated = [&](V16 v) HWY_ATTR {
            const auto difference = hn::ShiftLeft<6>(hn::Sub(v, gray));
            return hn::DemoteTo(d8, hn::Add(gray, hn::MulFixedPoint15(difference, saturation)));
        };
        hn::StoreInterleaved3(saturated(b), saturated(g), saturated(r), d8, out + 3 * x);
    }
    for (; x < pixels; ++x) store_pixel(adjust_pixel(load_pixel(in + 3 * x, 3), terms), 3, out + 3 * x);
}

}  // namespace

// Chooses the loop; exported once per instruction set.
void adjust_pixels(const AdjustTerms& terms, const std::uint8_t* in, int channels, std::int64_t pixels,
                   std::uint8_t* out) {
    if (channels == 1 || terms.saturation == neutral_saturation)
        adjust_levels(terms, in, pixels * channels, out);
    else
        adjust_colours(terms, in, pixels, out);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

namespace framewire {

HWY_EXPORT(adjust_pixels);

void adjust_span(const AdjustTerms& terms, const std::uint8_t* in, int channels, std::int64_t pixels,
                 std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(adjust_pixels)(terms, in, channels, pixels, out);
}

void Adjust::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "adjust's image");
    validate(images.out, output_shape(), "adjust's result");
    const auto terms = terms_.load();  // one setting for the whole batch
    for_pixel_spans(executor_->pool(), images.in, images.out,
                    [&](const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels) {
                        adjust_span(terms, in, shape_.channels, pixels, out);
                    });
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

const ParameterFields<Adjustment>& adjust_fields() {
    using P = Adjustment;
    static const ParameterFields<P> fields = {
        parameter_field(&P::brightness,
                        {.name = "brightness", .help = "value added to each channel", .minimum = -255, .maximum = 255}),
        parameter_field(
            &P::contrast,
            {.name = "contrast", .help = "scales each channel's distance from middle gray (128)", .maximum = 4}),
        parameter_field(&P::saturation, {.name = "saturation",
                                         .help = "scales each channel's distance from the pixel's gray value; 0: gray",
                                         .maximum = 4}),
        parameter_field(&P::gain, {.name = "gain", .help = "multiplies each channel; applied first", .maximum = 8}),
    };
    return fields;
}

std::int16_t rounded(double value) { return static_cast<std::int16_t>(std::lround(value)); }

}  // namespace

AdjustTerms adjust_terms(const Adjustment& adjustment) {
    adjust_fields().check(adjustment, "adjust");
    return {rounded(512 * adjustment.gain * adjustment.contrast),
            rounded(adjustment.brightness + 128 * (1 - adjustment.contrast)), rounded(256 * adjustment.saturation)};
}

Adjust::Adjust(const Adjustment& adjustment, const Shape& shape, Executor& executor)
    : Adjust(shape, adjust_terms(adjustment), executor) {}

Adjust::Adjust(const Shape& shape, const AdjustTerms& terms, Executor& executor)
    : terms_(terms), shape_(shape), executor_(&executor) {
    validate(shape, "adjust's image");
}

bool Adjust::set_adjustment(const Adjustment& adjustment) {
    terms_ = adjust_terms(adjustment);
    return true;
}

// Stores the terms in `values` in the order in which adjust_terms_of() reads them.
PointwiseOp adjust_op(const AdjustTerms& terms) {
    return {.filter = "adjust",
            .values = {terms.slope, terms.offset, terms.saturation},
            .run =
                [](const PointwiseOp& op, const PointwiseSpan& span) {
                    adjust_span(adjust_terms_of(op), span.in, span.channels, span.pixels, span.out);
                },
            .keeps_gray = true};
}

Adjustment adjustment_from(const ParameterValues& values) { return adjust_fields().from(values); }

ParameterValues adjustment_values(const FilterInfo& info, const Adjustment& adjustment) {
    return with_defaults(info, {{"brightness", fmt::format("{}", adjustment.brightness)},
                                {"contrast", fmt::format("{}", adjustment.contrast)},
                                {"saturation", fmt::format("{}", adjustment.saturation)},
                                {"gain", fmt::format("{}", adjustment.gain)}});
}

FilterInfo adjust_info() {
    return {
        .name = "adjust",
        .summary = "adjusts brightness, contrast, saturation and gain",
        .parameters = adjust_fields().infos(),
        .examples = {"adjust=brightness=20:contrast=1.4:saturation=1.5", "adjust=saturation=0"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Adjust>>(adjustment_from(values), shape, executor);
        },
        .kind = [](const ParameterValues& values) -> FilterKind { return adjust_terms(adjustment_from(values)); },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            return adjust_op(adjust_terms(adjustment_from(values)));
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
