#pragma once

#include "framewire/delta/changes.hpp"
#include "framewire/filters/noise/noise.hpp"

namespace framewire {

/// A difference encoder's output as NoiseFromChanges reads it, where it lies.
template <MemorySpace space>
ChangedPositions<space> changed_positions(const delta::ChangesView<space>& changes) {
    static_assert(sizeof(delta::Summary) % sizeof(changes.summaries->count) == 0);
    return {changes.positions, &changes.summaries->count, sizeof(delta::Summary) / sizeof(changes.summaries->count),
            changes.capacity};
}

}  // namespace framewire
