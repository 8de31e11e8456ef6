#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace framewire::session {

/// Progress of a batch. A plain value.
struct BatchFigures {
    /// Number of files, or of pieces if some files are split.
    int files = 0;
    /// Number that ended: made, skipped or failed.
    int ended = 0;
    /// Number of these that failed.
    int failed = 0;
    std::int64_t frames = 0;
    double seconds = 0;
    /// Input bytes of files with work to do, and of those whose work ended.
    std::int64_t bytes = 0, ended_bytes = 0;
    /// True if some files are split into pieces.
    bool cut = false;
};

/// Collects the progress of pieces that are processed in parallel. Thread-safe.
class BatchTally {
public:
    /// `files` is the total number, of pieces if some are `cut`; `bytes` is the size of the inputs that have work to
    /// do.
    BatchTally(int files, std::int64_t bytes, bool cut = false);

    /// Includes the statistics of a running job until unwatch(). They must live until then.
    void watch(const Statistics& statistics);
    /// Adds the job's frames to the total, when it has ended.
    void unwatch(const Statistics& statistics);
    /// Counts a piece that ended, with its input bytes.
    void count(std::int64_t bytes, bool failed);

    /// Returns the progress so far.
    BatchFigures figures() const;

private:
    mutable std::mutex mutex_;
    BatchFigures ended_;
    std::set<const Statistics*> running_;
    Clock::time_point start_ = Clock::now();
};

/// Returns the lines for Progress: "12/40 files, 1 failed, ..." with fraction and remaining time by input bytes. Refers
/// to `tally`.
ProgressLines progress_lines(const BatchTally& tally);

/// Returns the progress as a line of at most `columns` characters.
std::string batch_bar(const BatchFigures& figures, int columns);
/// Returns the progress as a line of JSON.
std::string batch_json(const BatchFigures& figures);

}  // namespace framewire::session
