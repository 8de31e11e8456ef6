#pragma once

#include "framewire/delta/changes.hpp"
#include "framewire/filters/changed_bytes.hpp"

namespace framewire {

/// Returns a view of a difference encoder's output for NoiseFromChanges and HeatmapFromChanges; nothing is
/// copied.
template <MemorySpace space>
ChangedBytes<space> changed_bytes(const delta::ChangesView<space>& changes) {
    static_assert(sizeof(delta::Summary) % sizeof(changes.summaries->count) == 0);
    return {changes.positions, changes.differences, &changes.summaries->count,
            sizeof(delta::Summary) / sizeof(changes.summaries->count), changes.capacity};
}

}  // namespace framewire
