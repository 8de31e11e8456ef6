#include "framewire/filters/gray.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/gray.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/gray_input-inl.hpp"

#include <algorithm>
#include <cstring>

// Gray on the CPU, with vectors. gray_input-inl.hpp converts BGR; this file stores the results with one or three
// channels.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using GrayD8 = hn::ScalableTag<std::uint8_t>;

// Stores a vector of gray values as one channel or as three equal channels.
HWY_INLINE void store_gray(hn::VFromD<GrayD8> gray, int channels, std::uint8_t* to) {
    if (channels == 1)
        hn::StoreU(gray, GrayD8(), to);
    else
        hn::StoreInterleaved3(gray, gray, gray, GrayD8(), to);
}

// Converts BGR pixels with vectors; a copy of the last pixels is padded to whole vectors.
void gray_from_bgr(const std::uint8_t* in, std::int64_t pixels, const GrayWeights& weights, int out_channels,
                   std::uint8_t* out) {
    const GrayD8 d8;
    const GrayOfBgr gray_of(d8, weights);
    std::int64_t x = 0;
    for (; x + gray_of.readable_px() <= pixels; x += gray_of.pixels())
        store_gray(gray_of(in + 3 * x), out_channels, out + out_channels * x);
    // The last vectors would read or write beyond the run, so they work on copies.
    std::uint8_t last_in[4 * HWY_MAX_BYTES] = {}, last_out[3 * HWY_MAX_BYTES];
    for (; x < pixels; x += gray_of.pixels()) {
        const auto count = std::min(pixels - x, gray_of.pixels());
        std::memcpy(last_in, in + 3 * x, static_cast<std::size_t>(3 * count));
        store_gray(gray_of(last_in), out_channels, last_out);
        std::memcpy(out + out_channels * x, last_out, static_cast<std::size_t>(out_channels * count));
    }
}

// Copies gray pixels into one channel or three equal ones.
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

// Dispatches on the number of input channels; exported once per instruction set.
void gray_span(const std::uint8_t* in, int in_channels, std::int64_t pixels, const GrayWeights& weights,
               int out_channels, std::uint8_t* out) {
    if (in_channels == 3)
        gray_from_bgr(in, pixels, weights, out_channels, out);
    else
        gray_from_gray(in, pixels, out_channels, out);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

namespace framewire {

HWY_EXPORT(gray_span);

void gray_span(GrayMethod method, const std::uint8_t* in, int in_channels, std::int64_t pixels, int out_channels,
               std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(gray_span)(in, in_channels, pixels, gray_weights(method), out_channels, out);
}

// Validates both shapes, because the result may have a different number of channels.
Gray::Gray(GrayParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "gray's image");
    validate(output_shape(), "gray's result");
}

// Any run of pixels can be converted independently, so dense images are divided without regard to rows.
void Gray::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "gray's image");
    validate(images.out, output_shape(), "gray's result");
    for_pixel_spans(executor_->pool(), images.in, images.out,
                    [&](const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels) {
                        gray_span(parameters_.method, in, shape_.channels, pixels, parameters_.channels, out);
                    });
}

namespace {

constexpr NamedValue<GrayMethod> gray_method_names[] = {{"weighted", GrayMethod::weighted},
                                                        {"average", GrayMethod::average}};

const ParameterFields<GrayParameters>& gray_fields() {
    using P = GrayParameters;
    static const ParameterFields<P> fields = {
        parameter_field(
            &P::method, gray_method_names,
            {.name = "method",
             .help = "weighted: 0.114 B + 0.587 G + 0.299 R in OpenCV's fixed point; average: floor((B + G + R) / 3)"}),
        parameter_field(&P::channels, {.name = "channels",
                                       .help = "channels of the result: 3 (BGR) or 1 (gray)",
                                       .minimum = 1,
                                       .maximum = 3,
                                       .choices = {"1", "3"}}),
    };
    return fields;
}

}  // namespace

FilterInfo gray_info() {
    return {
        .name = "gray",
        .summary = "converts colour to gray, by perceived brightness or by the average",
        .parameters = gray_fields().infos(),
        .examples = {"gray", "gray=average:channels=1"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return shape.with_channels(gray_fields().from(values).channels); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Gray>>(gray_fields().from(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = gray_fields().from(values);
            return PointwiseOp{.filter = "gray",
                               .channels = parameters.channels,
                               .values = {static_cast<int>(parameters.method)},
                               .run =
                                   [](const PointwiseOp& op, const PointwiseSpan& span) {
                                       gray_span(static_cast<GrayMethod>(op.values[0]), span.in, span.channels,
                                                 span.pixels, span.out_channels, span.out);
                                   },
                               .gives_gray = true,
                               .needs_gray = parameters.method};
        },
    };
}

}  // namespace framewire

#endif
