#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/refresh/told_step.hpp"

#include <cstdint>
#include <optional>

namespace framewire::delta {

/// Refinement of R: changes for a Packer. RestSharpener writes it. On the CUDA backend the changes are downloaded on a
/// stream of their own. Move-only; not thread-safe.
class SharperStep {
public:
    /// Makes an empty refinement for frames of `shape`, whose `frames` must be 1. Keeps a reference to `executor`.
    /// Throws Error{config} if memory is exhausted.
    SharperStep(const Shape& shape, const Executor& executor);

    /// Waits until the changes are on the host. The other members are meaningful only afterwards. Throws if the
    /// download failed.
    void wait();
    /// Makes it empty.
    void clear();

    /// Returns true if nothing changes.
    bool empty() const { return told_.count == 0; }
    /// Returns the number of bytes that change.
    std::uint32_t count() const { return told_.count; }
    /// Returns the threshold that each change exceeds.
    int threshold() const { return told_.threshold; }
    /// Returns the changes, valid until the next write.
    ChangesView<MemorySpace::host> changes() const { return changes_.view(); }
    /// Applies the changes to another copy of R.
    void apply_to(HostView<std::uint8_t> reference) const;
    /// Updates the errors of R against the frame. `max_error` only grows: it stays that of R before the refinement if
    /// that was larger.
    void add_errors_to(Summary& errors) const;

private:
    friend class RestBudget;
    friend class RestOnHost;
    friend class RestOnGpu;

    struct OnGpu {
        OnGpu(const Shape& shape, const Executor& executor);

        DeviceChanges changes;
        cuda::DeviceBuffer told;
        HostBuffer landed;
        bool under_way = false;
        cuda::Transfer transfer;  // last member: its destructor waits before the buffers above are freed
    };

    ToldStep told_;
    HostChanges changes_;  // has a capacity for every byte; memory is committed when it is written
    std::optional<OnGpu> on_gpu_;
};

}  // namespace framewire::delta
