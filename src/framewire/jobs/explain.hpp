#pragma once

#include "framewire/jobs/run.hpp"
#include "framewire/plan/frame_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::jobs {

/// Everything that a `run` would do with each frame.
struct Explanation {
    std::string source;              ///< name of the source
    FrameFormat from;                ///< format of the source's frames
    FrameFormat to;                  ///< format in which filters give their results
    std::string backend;             ///< where filters run: "cpu" or "cuda"
    int threads = 0;                 ///< threads of the CPU
    std::vector<PlannedStep> steps;  ///< filters and conversions
    std::int64_t memory_bytes = 0;   ///< upper bound for the memory of all images
};

/// Opens the source of `options`, plans its filters as RunJob does and describes the plan. Reads no frame, and writes
/// nothing. If there is no output, results are images, as for viewers. Throws as RunJob does.
Explanation explain(const RunOptions& options);

}  // namespace framewire::jobs
