#pragma once

#include "peers/contest.hpp"

#include <functional>
#include <vector>

namespace framewire::bench {

/// What one table of the GPU is measured under: batches of frames in its memory.
struct GpuSetting {
    const ContentFrames* pictures;
    int batch;
    bool cold;       ///< batches in turn that an L2 does not hold, else one again and again
    bool transfers;  ///< with the way up from pinned memory and the way down to it
    std::vector<cuda::DeviceImage> batches;
    HostImage pinned;  ///< one batch, where there are transfers

    GpuSetting(Session& session, const ContentFrames& pictures, int batch, bool cold, bool transfers);
    Shape shape() const { return pictures->frame().with_frames(batch); }
    /// Runs that are timed as one.
    int turns() const;
    /// Says in a row's details what it was measured under.
    void describe(Row& row) const;
};

/// Times what candidates put on the GPU's stream, candidate after candidate, over and over: `turns` runs of one
/// together, each a batch of `frames` frames, as one graph where they can be recorded.
std::vector<Timing> time_by_turns(Session& session, int turns, int frames,
                                  const std::vector<std::function<void(int turn)>>& candidates);

/// On the GPU: framewire's labels with boxes, and NPP's labels.
void hold_labels_contest(Session& session, GpuSetting& setting);

}  // namespace framewire::bench
