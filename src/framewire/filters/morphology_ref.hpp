#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/filters/morphology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire {

/// Computes the reference for one phase: the smallest or largest of the pixels under the element. The runs of each
/// reach are built from those of the next smaller reach, for all pixels of a row at once.
inline void morphology_phase_reference(bool erodes, const StructuringElement& element, HostView<const std::uint8_t> in,
                                       HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const auto row_bytes = static_cast<int>(shape.row_bytes());
    const int radius = element.radius();
    const auto join = [erodes](std::uint8_t& value, std::uint8_t other) {
        value = erodes ? std::min(value, other) : std::max(value, other);
    };
    // [reach][y]: the row's pixels joined with those up to `reach` pixels to either side.
    using Rows = std::vector<std::vector<std::uint8_t>>;
    std::vector<Rows> runs(static_cast<std::size_t>(radius + 1), Rows(static_cast<std::size_t>(shape.height)));
    for (int frame = 0; frame < shape.frames; ++frame) {
        for (int y = 0; y < shape.height; ++y) {
            const auto at_y = static_cast<std::size_t>(y);
            const auto* row = in.row(frame, y);
            runs[0][at_y].assign(row, row + row_bytes);
            for (int reach = 1; reach <= radius; ++reach) {
                auto& run = runs[static_cast<std::size_t>(reach)][at_y];
                run = runs[static_cast<std::size_t>(reach - 1)][at_y];
                const int end = reach * shape.channels;
                for (int x = 0; x < row_bytes; ++x) {
                    if (x >= end) join(run[static_cast<std::size_t>(x)], row[x - end]);
                    if (x + end < row_bytes) join(run[static_cast<std::size_t>(x)], row[x + end]);
                }
            }
        }
        for (int y = 0; y < shape.height; ++y) {
            auto* result = out.row(frame, y);
            std::fill_n(result, row_bytes, static_cast<std::uint8_t>(erodes ? 255 : 0));
            for (int v = std::max(y - radius, 0); v <= std::min(y + radius, shape.height - 1); ++v) {
                const auto& run = runs[static_cast<std::size_t>(element.reach(v - y))][static_cast<std::size_t>(v)];
                for (int x = 0; x < row_bytes; ++x) join(result[x], run[static_cast<std::size_t>(x)]);
            }
        }
    }
}

/// Computes the reference for tests and benchmarks: all phases of an operation, one after the other.
inline void morphology_reference(MorphologyOperation operation, const StructuringElement& element,
                                 HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    HostImage now(in.shape());
    copy(in, now.view());
    const auto phases = phases_of(operation);
    for (int index = 0; index < phases.count; ++index) {
        morphology_phase_reference(phases.erodes(index), element, now.view(), out);
        copy(out, now.view());
    }
    copy(now.view(), out);
}

}  // namespace framewire
