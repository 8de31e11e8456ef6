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

/// What makes resting places of R sharper: changes for a Packer. RestSharpener writes it. On the CUDA backend it comes
/// down on a way of its own. Move-only.
class SharperStep {
public:
    /// For frames of `shape` (one frame), empty. Keeps a reference to `executor`. Throws Error{config} without memory.
    SharperStep(const Shape& shape, const Executor& executor);

    /// Returns when it is on the host; throws what the way there failed with. Only then it says something.
    void wait();
    void clear();

    bool empty() const { return told_.count == 0; }
    /// How many bytes change.
    std::uint32_t count() const { return told_.count; }
    /// Each changes by more.
    int threshold() const { return told_.threshold; }
    ChangesView<MemorySpace::host> changes() const { return changes_.view(); }
    /// Makes the changes to R elsewhere, too.
    void apply_to(HostView<std::uint8_t> reference) const;
    /// Keeps the errors of R against the frame true; max_error stays that of R before where that is more.
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
        cuda::Transfer transfer;  // last: it is over before what it copies goes
    };

    ToldStep told_;
    HostChanges changes_;  // has room for every byte; its memory is taken when it is written
    std::optional<OnGpu> on_gpu_;
};

}  // namespace framewire::delta
