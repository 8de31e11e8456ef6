#pragma once

#include "framewire/delta/changes.hpp"
#include "framewire/filters/changed_bytes.hpp"

namespace framewire {

/// A difference encoder's output as NoiseFromChanges and HeatmapFromChanges read it, where it lies.
template <MemorySpace space>
ChangedBytes<space> changed_bytes(const delta::ChangesView<space>& changes) {
    static_assert(sizeof(delta::Summary) % sizeof(changes.summaries->count) == 0);
    return {changes.positions, changes.differences, &changes.summaries->count,
            sizeof(delta::Summary) / sizeof(changes.summaries->count), changes.capacity};
}

}  // namespace framewire
