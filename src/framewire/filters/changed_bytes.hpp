#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// The bytes of a batch that a difference encoder found changed, in one memory space. Stream s has counts[s *
/// count_stride] changes in ascending order: their byte indices in the frame (rows without gaps) start at positions + s
/// * capacity, and their new minus old values, modulo 256, at differences + s * capacity.
template <MemorySpace space>
struct ChangedBytes {
    /// Byte indices of the changes, stream after stream.
    const std::uint32_t* positions = nullptr;
    /// New minus old value, modulo 256, of each change.
    const std::uint8_t* differences = nullptr;
    /// Number of changes of each stream.
    const std::uint32_t* counts = nullptr;
    std::int64_t count_stride = 1;  ///< between the counts of two streams, in 32-bit words
    std::int64_t capacity = 0;      ///< most changes per stream
};

/// Calls body(frame, y, x, first, end) in parallel for every pixel of a batch of `shape` with changes: those numbered
/// first to end - 1 in its stream. Positions outside the frame are skipped. Counts above the capacity are clamped to
/// it.
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
        // Index of the first change after `index - 1`'s pixel. Chunks are cut there, so that one thread gets all
        // changes of a pixel.
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
