#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace framewire::codec {

/// Reference for Encoder::encode(): the same algorithm, one byte after the other (streaming report, section 2.1). Tests
/// and benchmarks compare the encoders with it. Host only; `changes` needs a capacity for every byte of a frame.
inline void encode_reference(int threshold, HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                             const ChangesView<MemorySpace::host>& changes) {
    const auto& shape = current.shape();
    for (int stream = 0; stream < shape.frames; ++stream) {
        Summary summary;
        auto* positions = changes.positions + stream * changes.capacity;
        auto* differences = changes.differences + stream * changes.capacity;
        std::uint32_t position = 0;
        for (int y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x, ++position) {
                const auto now = current.row(stream, y)[x];
                auto& held = reference.row(stream, y)[x];
                const int difference = now - held;
                if (std::abs(difference) > threshold) {
                    positions[summary.count] = position;
                    differences[summary.count] = static_cast<std::uint8_t>(difference);
                    ++summary.count;
                    held = now;
                }
                const int error = now - held;
                summary.max_error = std::max(summary.max_error, static_cast<std::uint32_t>(std::abs(error)));
                summary.squared_error += static_cast<std::uint64_t>(error * error);
            }
        changes.summaries[stream] = summary;
    }
}

}  // namespace framewire::codec
