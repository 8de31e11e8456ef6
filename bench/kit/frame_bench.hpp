#pragma once

#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"

#include <functional>
#include <string>

namespace framewire::bench {

/// A filter to be measured on both backends on frames of one scene, each with the one before it and, as the chain's
/// original, another one where the filter needs them. A fiftieth of the bytes changes from frame to frame.
struct FrameBench {
    const FilterInfo& info;
    std::string operation;
    ParameterValues values;
    std::function<void(const FilterImages<MemorySpace::host>&)> reference;
};

/// Measures one frame at a time on the CPU and batches on the GPU.
void bench_frames(Session& session, const FrameBench& bench);

}  // namespace framewire::bench
