#pragma once

#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

namespace framewire::session {

/// What came of a job, whether it ended well or not.
struct JobResult {
    StatisticsSnapshot figures{};
    RunDescription description{};
    Ending ending = Ending::complete;  ///< how the outputs ended
};

}  // namespace framewire::session
