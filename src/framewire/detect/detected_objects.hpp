#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"
#include "framewire/detect/labelling/components.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// What a detector finds in one batch: lists in the memory of its backend, and on the host once they are there. Several
/// may be on their way while the detector goes on. Move-only.
class DetectedObjects {
public:
    DetectedObjects() = default;
    /// For `frames` a run with room for `capacity` objects each. Throws Error{config} without memory.
    DetectedObjects(int frames, int capacity, Executor& executor);

    /// Where a run writes, in the memory space of the backend.
    template <MemorySpace space>
    ComponentLists<space> lists() const {
        return lists_.in<space>().lists();
    }

    /// Queues them for the host, as the work queued so far on the executor's stream leaves them.
    void download();
    /// Returns when what download() queued is on the host; throws what it, or the work before it, failed with. Only
    /// objects travel, not the places that none took: more than are usual in a second journey.
    void wait();

    /// On the host, at most `capacity`, in raster order.
    std::span<const Component> of_frame(int frame = 0) const;
    /// How many there would have been without a limit on their number.
    std::int64_t found(int frame = 0) const { return lists<MemorySpace::host>().found[frame]; }
    /// How many more there were than are kept.
    std::int64_t left_out(int frame = 0) const { return found(frame) - std::ssize(of_frame(frame)); }

private:
    void download(int first);

    cuda::Twin<ComponentBuffer> lists_;
    int downloaded_ = 0;       // places of each frame under way to the host
    cuda::Transfer transfer_;  // last: it is over before the lists go
};

}  // namespace framewire
