#pragma once

#include "peers/contest.hpp"

#include <functional>
#include <vector>

namespace framewire::bench {

/// Conditions of one GPU table: batches of frames in device memory.
struct GpuSetting {
    const ContentFrames* pictures;
    int batch;
    bool cold;       ///< true: different batches in turn, more than an L2 holds; false: one batch repeatedly
    bool transfers;  ///< includes the upload from and the download to pinned memory
    std::vector<cuda::DeviceImage> batches;
    HostImage pinned;  ///< one batch, if there are transfers

    GpuSetting(Session& session, const ContentFrames& pictures, int batch, bool cold, bool transfers);
    Shape shape() const { return pictures->frame().with_frames(batch); }
    /// Returns the number of runs that are timed together.
    int turns() const;
    /// Adds the conditions of the measurement to a row's details.
    void describe(Row& row) const;
};

/// Times the work that candidates add to the GPU's stream. The candidates alternate; each sample takes up to `turns`
/// runs of one candidate together, as one graph if they can be recorded. A run is a batch of `frames` frames.
std::vector<Timing> time_by_turns(Session& session, int turns, int frames,
                                  const std::vector<std::function<void(int turn)>>& candidates);

/// Compares framewire's labels with boxes and NPP's labels on the GPU.
void hold_labels_contest(Session& session, GpuSetting& setting);

}  // namespace framewire::bench
