#include "framewire/hog/spread/spread.hpp"

#include <algorithm>
#include <cmath>

namespace framewire {

// With a norm the window is the block itself; without one it is a cell with a neighbour on each side.
SpreadAxis spread_axis(const HogParameters& parameters) {
    const bool blocks = parameters.norm != HogNorm::none;
    SpreadAxis axis{
        .before = blocks ? 0 : 1, .cells = blocks ? parameters.block : 3, .targets = blocks ? parameters.block : 1};
    const int side = axis.cells * parameters.cell, first = blocks ? 0 : 1;
    for (int target = 0; target < axis.targets; ++target)
        for (int pixel = 0; pixel < side; ++pixel) {
            const double centre = (first + target + 0.5) * parameters.cell;
            const double near = std::max(0.0, 1 - std::abs(pixel + 0.5 - centre) / parameters.cell);
            const double off = (pixel + 0.5 - side / 2.0) / (side / 4.0);
            axis.weights.push_back(static_cast<float>(blocks ? near * std::exp(-off * off / 2) : near));
        }
    for (auto weights = axis.weights.begin(); weights != axis.weights.end(); weights += side) {
        SpreadAxis::Span span{0, side};
        while (span.begin < span.end && weights[span.begin] == 0) ++span.begin;
        while (span.end > span.begin && weights[span.end - 1] == 0) --span.end;
        axis.spans.push_back(span);
    }
    return axis;
}

// On the CPU the weights of both axes are multiplied beforehand for each pixel of a cell. On CUDA threads
// multiply them.
HogSpread::HogSpread(const HogParameters& parameters, Executor& executor)
    : axis(spread_axis(parameters)), strip(spread_strip(axis.cells, axis.targets, parameters.cell, parameters.bins)) {
    const int cell = parameters.cell, side = axis.cells * cell;
    const auto weight = [&](const Way& way, int pixel) {
        return axis.weights[static_cast<std::size_t>(way.target * side + way.place * cell + pixel)];
    };
    for (int place = 0; place < axis.cells; ++place)
        for (int target = 0; target < axis.targets; ++target) {
            const Way way{place, target};
            float most = 0;
            for (int pixel = 0; pixel < cell; ++pixel) most = std::max(most, weight(way, pixel));
            if (most > 0) ways.push_back(way);
        }
    if (executor.backend() == Backend::cuda) {
        weights = BackendBuffer(axis.weights.size() * sizeof(float), executor);
        weights.put(axis.weights.data(), weights.bytes());
        return;
    }
    const int count = static_cast<int>(ways.size());
    lanes = (count * count + hog_spread_group - 1) / hog_spread_group * hog_spread_group;
    weights = BackendBuffer(static_cast<std::size_t>(cell * cell * lanes) * sizeof(float), executor);
    weights.fill(0);
    auto* to = weights.as<float>();
    for (int y = 0; y < cell; ++y)
        for (int x = 0; x < cell; ++x, to += lanes)
            for (int up = 0; up < count; ++up)
                for (int across = 0; across < count; ++across)
                    to[up * count + across] = weight(ways[static_cast<std::size_t>(up)], y) *
                                              weight(ways[static_cast<std::size_t>(across)], x);
}

}  // namespace framewire
