#include "framewire/filters/heatmap/heatmap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace framewire {
namespace {

// Color for one sum of differences, from the formula.
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
        .summary = "how much each pixel changed since the previous frame: blue still, green half, red most",
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
