#pragma once

#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"

#include <functional>
#include <string>

namespace framewire::bench {

/// A filter to measure on both backends, on frames of one scene. If the filter needs them, each frame comes with the
/// previous one and with another frame as the chain's original. A fiftieth of the bytes changes from frame to frame.
struct FrameBench {
    const FilterInfo& info;
    std::string operation;
    ParameterValues values;
    std::function<void(const FilterImages<MemorySpace::host>&)> reference;
};

/// Measures single frames on the CPU and batches on the GPU.
void bench_frames(Session& session, const FrameBench& bench);

}  // namespace framewire::bench
