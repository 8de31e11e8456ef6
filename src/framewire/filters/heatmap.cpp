#include "framewire/filters/heatmap.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/heatmap.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/filters/pointwise-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

// The heat map on the CPU: differences are summed in vectors, but colors are looked up one by one.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t block_px = 512;  // pixels whose sums are kept in the L1 cache until their colors are looked up

// Computes, for each pixel, the sum of the channels' absolute differences; for a gray pixel, three times the
// difference.
void sums_of(const std::uint8_t* in, const std::uint8_t* previous, int channels, std::int64_t pixels,
             std::uint16_t* sums) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::Repartition<std::uint16_t, decltype(d8)> d16;
    const hn::Half<decltype(d8)> d8_half;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<decltype(d8)> b, g, r;
        if (channels == 3)
            bgr_differences(d8, in + 3 * x, previous + 3 * x, b, g, r);
        else
            b = g = r = absolute_difference(hn::LoadU(d8, in + x), hn::LoadU(d8, previous + x));
        // Sums of up to 765 need 16 bits.
        const auto sum_of = [&](auto half) HWY_ATTR {
            return hn::Add(hn::Add(hn::PromoteTo(d16, half(b)), hn::PromoteTo(d16, half(g))),
                           hn::PromoteTo(d16, half(r)));
        };
        hn::StoreU(sum_of([&](auto v) HWY_ATTR { return hn::LowerHalf(d8_half, v); }), d16, sums + x);
        hn::StoreU(sum_of([&](auto v) HWY_ATTR { return hn::UpperHalf(d8_half, v); }), d16, sums + x + step / 2);
    }
    for (; x < pixels; ++x)
        sums[x] = static_cast<std::uint16_t>(
            heat_of(load_pixel(in + x * channels, channels), load_pixel(previous + x * channels, channels)));
}

}  // namespace

// Draws a run of pixels: sums for a block of pixels first, then one table lookup per pixel.
void heatmap_colours(const std::uint8_t* in, const std::uint8_t* previous, int channels, std::int64_t pixels,
                     const Pixel* table, std::uint8_t* out) {
    HWY_ALIGN std::uint16_t sums[block_px];
    for (std::int64_t begin = 0; begin < pixels; begin += block_px) {
        const auto count = std::min(block_px, pixels - begin);
        sums_of(in + begin * channels, previous + begin * channels, channels, count, sums);
        auto* colours = out + 3 * begin;
        // Store four bytes per pixel instead of three single ones; the next pixel overwrites the fourth.
        for (std::int64_t x = 0; x + 1 < count; ++x) std::memcpy(colours + 3 * x, &table[sums[x]], 4);
        store_pixel(table[sums[count - 1]], 3, colours + 3 * (count - 1));
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

namespace framewire {

HWY_EXPORT(heatmap_colours);

void heatmap_span(const std::uint8_t* in, const std::uint8_t* previous, int channels, std::int64_t pixels,
                  std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(heatmap_colours)(in, previous, channels, pixels, heatmap_table().data(), out);
}

void Heatmap::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "heatmap's image");
    validate(images.previous, shape_, "heatmap's previous image");
    validate(images.out, output_shape(), "heatmap's result");
    for_pixel_spans(executor_->pool(), images.in, images.previous, images.out,
                    [&](const std::uint8_t* in, const std::uint8_t* previous, std::uint8_t* out, std::int64_t pixels) {
                        heatmap_span(in, previous, shape_.channels, pixels, out);
                    });
}

// Fills the result with the color of unchanged pixels and then draws the changed ones.
void HeatmapFromChanges::run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> reference,
                             HostView<std::uint8_t> out) const {
    validate(reference, shape_, "heatmap's reference");
    validate(out, output_shape(), "heatmap's result");
    const auto& pool = executor_->pool();
    const auto& table = heatmap_table();
    for_pixel_runs(pool, out.shape(), out.dense(), [&](const PixelRun& run) {
        auto* pixel = run.in(out);
        for (const auto* end = pixel + 3 * run.pixels; pixel < end; pixel += 3) store_pixel(table[0], 3, pixel);
    });
    for_changed_pixels(pool, changes, shape_, [&](int frame, int y, int x, std::int64_t first, std::int64_t end) {
        const auto* now = reference.row(frame, y) + std::int64_t{x} * shape_.channels;
        const auto heat = heat_of_changes(now, changes.positions + frame * changes.capacity,
                                          changes.differences + frame * changes.capacity, first, end, shape_.channels);
        store_pixel(table[static_cast<std::size_t>(heat)], 3, out.row(frame, y) + std::int64_t{x} * 3);
    });
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Returns the color for one sum of differences by the formula.
Pixel colour_of(int sum) {
    const double angle = std::numbers::pi * sum / max_heat;
    const auto channel = [](double value) {
        return static_cast<std::uint32_t>(std::lround(std::clamp(255 * value, 0.0, 255.0)));
    };
    return pixel_of(channel(std::sin(angle + std::numbers::pi / 2)), channel(std::sin(angle)),
                    channel(std::sin(angle - std::numbers::pi / 2)));
}

}  // namespace

// A function-local static, so that the table is computed on first use.
const HeatmapTable& heatmap_table() {
    static const HeatmapTable table = [] {
        HeatmapTable colours{};
        for (int sum = 0; sum <= max_heat; ++sum) colours[static_cast<std::size_t>(sum)] = colour_of(sum);
        return colours;
    }();
    return table;
}

// Waits for the upload, so that the buffer can be used from any stream.
cuda::DeviceBuffer heatmap_table_for(const Executor& executor) {
    if (executor.backend() == Backend::cpu) return {};
    cuda::DeviceBuffer table(sizeof(HeatmapTable));
    cuda::upload(heatmap_table().data(), table.data(), sizeof(HeatmapTable), executor.stream());
    executor.stream().synchronize();
    return table;
}

Heatmap::Heatmap(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {
    validate(shape, "heatmap's image");
    table_ = heatmap_table_for(executor);
}

HeatmapFromChanges::HeatmapFromChanges(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {
    validate(shape, "heatmap's image");
    table_ = heatmap_table_for(executor);
}

FilterInfo heatmap_info() {
    return {
        .name = "heatmap",
        .summary =
            "colours each pixel by its change since the previous frame: blue for none, green for half, red for the "
            "most",
        .parameters = {},
        .examples = {"heatmap", "gaussian=5,heatmap"},
        .needs_previous = true,
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape.with_channels(3); },
        .make = [](const ParameterValues&, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Heatmap>>(shape, executor);
        },
        .pointwise = [](const ParameterValues&) -> std::optional<PointwiseOp> {
            return PointwiseOp{.filter = "heatmap",
                               .channels = 3,
                               .needs_previous = true,
                               .run =
                                   [](const PointwiseOp&, const PointwiseSpan& span) {
                                       heatmap_span(span.in, span.previous, span.channels, span.pixels, span.out);
                                   },
                               .takes_gray = true};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
