#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace framewire::session {

/// How far work on many files is. Thread-safe.
struct BatchFigures {
    int files = 0;   ///< in all, or pieces where some are cut
    int ended = 0;   ///< made, left as they were, or failed
    int failed = 0;  ///< of these
    std::int64_t frames = 0;
    double seconds = 0;
    std::int64_t bytes = 0, ended_bytes = 0;  ///< of inputs: those there is work for, and those whose work ended
    bool cut = false;                         ///< some files are, into pieces
};

/// Gathers them from the pieces of work as they go.
class BatchTally {
public:
    /// `files` in all, or pieces where some are `cut`, of which there is work for those with `bytes` together.
    BatchTally(int files, std::int64_t bytes, bool cut = false);

    /// The figures of a job that runs, for as long as it does.
    void watch(const Statistics& statistics);
    void unwatch(const Statistics& statistics);
    /// One that ended with so many bytes of input.
    void count(std::int64_t bytes, bool failed);

    BatchFigures figures() const;

private:
    mutable std::mutex mutex_;
    BatchFigures ended_;
    std::set<const Statistics*> running_;
    Clock::time_point start_ = Clock::now();
};

/// As Progress takes them: "12/40 files, 1 failed, ..." with share and time left by the inputs' bytes.
ProgressLines progress_lines(const BatchTally& tally);

std::string batch_bar(const BatchFigures& figures, int columns);
std::string batch_json(const BatchFigures& figures);

}  // namespace framewire::session
