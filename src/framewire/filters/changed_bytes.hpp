#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Which bytes a difference encoder found changed, in one memory space: for stream s, counts[s * count_stride] of them,
/// in ascending order: their positions (byte index in the frame, rows without gaps) from positions + s * capacity on
/// and new minus old, modulo 256, from differences + s * capacity on.
template <MemorySpace space>
struct ChangedBytes {
    const std::uint32_t* positions = nullptr;
    const std::uint8_t* differences = nullptr;
    const std::uint32_t* counts = nullptr;
    std::int64_t count_stride = 1;  ///< in 32-bit words
    std::int64_t capacity = 0;      ///< changes each stream has room for
};

/// Calls body(frame, y, x, first, end) for every pixel of a batch of `shape` that has changes, which are those numbered
/// first to end - 1 of its stream; in parallel. Positions outside the frame are left out.
template <class Body>
void for_changed_pixels(const ThreadPool& pool, const ChangedBytes<MemorySpace::host>& changes, const Shape& shape,
                        Body&& body) {
    constexpr std::int64_t changes_each = 16 * 1024;
    const auto pixels = static_cast<std::uint32_t>(std::int64_t{shape.height} * shape.width);
    for (int frame = 0; frame < shape.frames; ++frame) {
        const auto* positions = changes.positions + frame * changes.capacity;
        const auto count = std::min<std::int64_t>(changes.counts[frame * changes.count_stride], changes.capacity);
        const auto pixel_at = [&](std::int64_t index) {
            return positions[index] / static_cast<std::uint32_t>(shape.channels);
        };
        // Where the pixel ends that the change before `index` is of: pieces are cut there.
        const auto pixel_end = [&](std::int64_t index) {
            while (index > 0 && index < count && pixel_at(index) == pixel_at(index - 1)) ++index;
            return index;
        };
        pool.for_chunks(count, changes_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            end = pixel_end(end);
            for (auto first = pixel_end(begin); first < end;) {
                const auto next = pixel_end(first + 1);
                const auto pixel = pixel_at(first);
                if (pixel < pixels)
                    body(frame, static_cast<int>(pixel / static_cast<std::uint32_t>(shape.width)),
                         static_cast<int>(pixel % static_cast<std::uint32_t>(shape.width)), first, next);
                first = next;
            }
        });
    }
}

}  // namespace framewire
