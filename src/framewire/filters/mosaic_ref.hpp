#pragma once

#include "framewire/filters/mosaic.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Computes the reference for one zone, cell by cell.
inline void mosaic_zone_reference(int cell_px, const Zone& zone, HostView<const std::uint8_t> in,
                                  HostView<std::uint8_t> out) {
    const auto& shape = in.shape();
    const int right = zone.x + std::min(zone.width, shape.width - zone.x);
    const int bottom = zone.y + std::min(zone.height, shape.height - zone.y);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int top = zone.y; top < bottom; top += cell_px)
            for (int left = zone.x; left < right; left += cell_px)
                for (int channel = 0; channel < shape.channels; ++channel) {
                    const int end_y = std::min(top + cell_px, bottom), end_x = std::min(left + cell_px, right);
                    std::int64_t sum = 0, pixels = 0;
                    for (int y = top; y < end_y; ++y)
                        for (int x = left; x < end_x; ++x, ++pixels)
                            sum += in.row(frame, y)[x * shape.channels + channel];
                    for (int y = top; y < end_y; ++y)
                        for (int x = left; x < end_x; ++x)
                            out.row(frame, y)[x * shape.channels + channel] =
                                static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
                }
}

/// Computes the definition, as the reference for tests and benchmarks.
inline void mosaic_reference(const MosaicParameters& parameters, HostView<const std::uint8_t> in,
                             HostView<std::uint8_t> out) {
    if (parameters.zones.empty())
        return mosaic_zone_reference(parameters.cell_px, {0, 0, in.shape().width, in.shape().height}, in, out);
    copy(in, out);
    for (const auto& zone : parameters.zones) mosaic_zone_reference(parameters.cell_px, zone, in, out);
}

}  // namespace framewire
