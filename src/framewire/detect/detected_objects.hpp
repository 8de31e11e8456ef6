#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"
#include "framewire/detect/labelling/components.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// The objects that a detector finds in one batch: lists in the memory of its backend and, after a download, on
/// the host. Several downloads may be in flight while the detector continues. Move-only.
class DetectedObjects {
public:
    DetectedObjects() = default;
    /// Makes lists for `frames` frames per run, with room for `capacity` objects each. Throws Error{config} if
    /// there is not enough memory.
    DetectedObjects(int frames, int capacity, Executor& executor);

    /// Returns the lists that a run writes, in the memory space of the backend.
    template <MemorySpace space>
    ComponentLists<space> lists() const {
        return lists_.in<space>().lists();
    }

    /// Queues a copy to the host that waits for the work queued so far on the executor's stream.
    void download();
    /// Blocks until the download is done; throws if it, or the work before it, failed. Only entries in use are
    /// copied, which takes a second copy if there are unusually many.
    void wait();

    /// Returns the objects of a frame on the host, at most `capacity`, in raster order.
    std::span<const Component> of_frame(int frame = 0) const;
    /// Returns how many objects the frame would have without the limit.
    std::int64_t found(int frame = 0) const { return lists<MemorySpace::host>().found[frame]; }
    /// Returns how many objects exceed the limit.
    std::int64_t left_out(int frame = 0) const { return found(frame) - std::ssize(of_frame(frame)); }

private:
    // Downloads the first `first` entries of each frame.
    void download(int first);

    cuda::Twin<ComponentBuffer> lists_;
    int downloaded_ = 0;       // entries per frame that are being copied
    cuda::Transfer transfer_;  // last member: it waits before the lists are destroyed
};

}  // namespace framewire
