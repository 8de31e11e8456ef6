#include "framewire/filters/noise.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/noise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/pointwise-inl.hpp"

// Noise on the CPU: vector code for pixels.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

}  // namespace

// Draws a run of pixels in vectors: the largest difference of the channels is compared with the threshold, and the
// result is combined with the background by OR.
void noise_pixels(const NoiseParameters& parameters, const std::uint8_t* in, const std::uint8_t* previous, int channels,
                  std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    const auto under = noise_under(parameters);
    const bool overlay = under != NoiseUnder::nothing;
    const auto* base = under == NoiseUnder::previous ? previous : in;
    const auto zero = hn::Zero(d8);
    const auto threshold = hn::Set(d8, static_cast<std::uint8_t>(parameters.threshold));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<decltype(d8)> largest;
        if (channels == 3) {
            hn::VFromD<decltype(d8)> b, g, r;
            bgr_differences(d8, in + 3 * x, previous + 3 * x, b, g, r);
            largest = hn::Max(hn::Max(b, g), r);
        } else {
            largest = absolute_difference(hn::LoadU(d8, in + x), hn::LoadU(d8, previous + x));
        }
        // 255 for noisy pixels, 0 for others.
        const auto noisy = hn::VecFromMask(d8, hn::Ne(hn::SaturatedSub(largest, threshold), zero));
        auto* result = out + 3 * x;
        // A gray background is expanded to three channels.
        if (overlay && channels == 1) {
            const auto gray = hn::LoadU(d8, base + x);
            hn::StoreInterleaved3(gray, gray, hn::Or(gray, noisy), d8, result);
            continue;
        }
        hn::StoreInterleaved3(zero, zero, noisy, d8, result);
        if (overlay)
            for (std::int64_t third = 0; third < 3; ++third)
                hn::StoreU(hn::Or(hn::LoadU(d8, result + third * step), hn::LoadU(d8, base + 3 * x + third * step)), d8,
                           result + third * step);
    }
    for (; x < pixels; ++x)
        store_pixel(noise_pixel(load_pixel(in + x * channels, channels), load_pixel(previous + x * channels, channels),
                                parameters.threshold, under),
                    3, out + 3 * x);
}

// Expands gray pixels to three channels.
void bgr_pixels(const std::uint8_t* gray, std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        const auto value = hn::LoadU(d8, gray + x);
        hn::StoreInterleaved3(value, value, value, d8, out + 3 * x);
    }
    for (; x < pixels; ++x) store_pixel(gray_pixel(gray[x]), 3, out + 3 * x);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

#include <cstring>

namespace framewire {

HWY_EXPORT(noise_pixels);
HWY_EXPORT(bgr_pixels);

void noise_span(const NoiseParameters& parameters, const std::uint8_t* in, const std::uint8_t* previous, int channels,
                std::int64_t pixels, std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(noise_pixels)(parameters, in, previous, channels, pixels, out);
}

void Noise::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "noise's image");
    validate(images.previous, shape_, "noise's previous image");
    validate(images.out, output_shape(), "noise's result");
    for_pixel_spans(executor_->pool(), images.in, images.previous, images.out,
                    [&](const std::uint8_t* in, const std::uint8_t* previous, std::uint8_t* out, std::int64_t pixels) {
                        noise_span(parameters_, in, previous, shape_.channels, pixels, out);
                    });
}

// Draws the background first, then the changed pixels in parallel.
void NoiseFromChanges::run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> in,
                           HostView<std::uint8_t> out) const {
    validate(out, output_shape(), "noise's result");
    if (mode_ == NoiseMode::overlay) validate(in, shape_, "noise's image");
    const auto& pool = executor_->pool();
    if (mode_ == NoiseMode::mask)
        for_pixel_runs(pool, out.shape(), out.dense(), [&](const PixelRun& run) {
            std::memset(run.in(out), 0, static_cast<std::size_t>(run.pixels) * 3);
        });
    else
        for_pixel_spans(pool, in, out, [&](const std::uint8_t* from, std::uint8_t* to, std::int64_t pixels) {
            if (shape_.channels == 1)
                HWY_DYNAMIC_DISPATCH(bgr_pixels)(from, pixels, to);
            else
                std::memcpy(to, from, static_cast<std::size_t>(pixels) * 3);
        });

    for_changed_pixels(pool, changes, shape_, [&](int frame, int y, int x, std::int64_t, std::int64_t) {
        out.row(frame, y)[std::int64_t{x} * 3 + 2] = 255;
    });
}

}  // namespace framewire

#endif

#if HWY_ONCE

// The registry entry of `noise`, and the validation of its parameters.

namespace framewire {
namespace {

constexpr NamedValue<NoiseMode> noise_mode_names[] = {{"mask", NoiseMode::mask}, {"overlay", NoiseMode::overlay}};
constexpr NamedValue<NoiseBase> noise_base_names[] = {{"frame", NoiseBase::frame}, {"previous", NoiseBase::previous}};

const ParameterFields<NoiseParameters>& noise_fields() {
    using P = NoiseParameters;
    static const ParameterFields<P> fields = {
        parameter_field(
            &P::threshold,
            {.name = "threshold", .help = "a pixel is shown if any channel differs by more than this", .maximum = 255}),
        parameter_field(
            &P::mode, noise_mode_names,
            {.name = "mode",
             .help = "mask: pure red on black; overlay: the frame with the red channel of these pixels set to 255"}),
        parameter_field(&P::base, noise_base_names,
                        {.name = "base", .help = "background of the overlay: the current or the previous frame"}),
    };
    return fields;
}

// Runs a fused operation; reads the parameters back from its values, in the inverse of noise_under().
void run_span(const PointwiseOp& op, const PointwiseSpan& span) {
    const auto under = static_cast<NoiseUnder>(op.values[1]);
    noise_span({.threshold = op.values[0],
                .mode = under == NoiseUnder::nothing ? NoiseMode::mask : NoiseMode::overlay,
                .base = under == NoiseUnder::previous ? NoiseBase::previous : NoiseBase::frame},
               span.in, span.previous, span.channels, span.pixels, span.out);
}

}  // namespace

Noise::Noise(NoiseParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "noise's image");
    noise_fields().check(parameters, "noise");
}

NoiseFromChanges::NoiseFromChanges(NoiseMode mode, const Shape& shape, Executor& executor)
    : mode_(mode), shape_(shape), executor_(&executor) {
    validate(shape, "noise's image");
}

FilterInfo noise_info() {
    return {
        .name = "noise",
        .summary = "shows pixels that differ from the previous frame in red",
        .parameters = noise_fields().infos(),
        .examples = {"noise=mode=overlay", "noise=10"},
        .needs_previous = true,
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                if (values.is_given("base") && values.text("mode") != "overlay")
                    fail(ErrorCode::usage, "base requires mode=overlay; a mask has a black background");
                return shape.with_channels(3);
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Noise>>(noise_fields().from(values), shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto parameters = noise_fields().from(values);
            return PointwiseOp{.filter = "noise",
                               .channels = 3,
                               .needs_previous = true,
                               .values = {parameters.threshold, static_cast<int>(noise_under(parameters))},
                               .run = run_span};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
