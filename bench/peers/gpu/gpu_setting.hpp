#pragma once

#include "peers/contest.hpp"

#include <functional>
#include <vector>

namespace framewire::bench {

/// Conditions of one GPU table: batches of frames in device memory.
struct GpuSetting {
    const ContentFrames* pictures;
    int batch;
    bool cold;       ///< true: batches in turn that an L2 does not hold; false: one batch repeatedly
    bool transfers;  ///< includes the upload from and the download to pinned memory
    std::vector<cuda::DeviceImage> batches;
    HostImage pinned;  ///< one batch, if there are transfers

    GpuSetting(Session& session, const ContentFrames& pictures, int batch, bool cold, bool transfers);
    Shape shape() const { return pictures->frame().with_frames(batch); }
    /// Returns the number of runs that are timed as one.
    int turns() const;
    /// Adds the conditions of the measurement to a row's details.
    void describe(Row& row) const;
};

/// Times the work that candidates add to the GPU's stream, one candidate after the other, repeatedly: `turns` runs of
/// one together, each a batch of `frames` frames, as one graph if they can be recorded.
std::vector<Timing> time_by_turns(Session& session, int turns, int frames,
                                  const std::vector<std::function<void(int turn)>>& candidates);

/// On the GPU: compares framewire's labels with boxes and NPP's labels.
void hold_labels_contest(Session& session, GpuSetting& setting);

}  // namespace framewire::bench
