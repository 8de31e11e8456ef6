#pragma once

#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

namespace framewire::session {

/// Outcome of a job, also of one that failed.
struct JobResult {
    /// Final statistics.
    StatisticsSnapshot figures{};
    /// Source, backend, filters and what they found.
    RunDescription description{};
    /// How the outputs ended.
    Ending ending = Ending::complete;
};

}  // namespace framewire::session
