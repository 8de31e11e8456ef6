#pragma once

#include "framewire/detect/motion_ranges.hpp"
#include "framewire/jobs/clips.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// Options of a FindJob.
struct FindOptions {
    JobOptions job{};
    InputOptions input{};
    DetectorOptions detector{};
    MotionRangeRules rules{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const FindOptions& options);

/// Outcome of a FindJob.
struct FindResult : JobResult {
    /// Time ranges in which something moved, in chronological order.
    std::vector<MotionRange> ranges{};
    /// Time of day at 0 seconds of the source, in microseconds since 1970 UTC; 0: unknown.
    std::int64_t began_us = 0;
    /// Time of the last frame that was read, in seconds.
    double end_seconds = 0;
    /// True if the source is a recording whose changes were read, see FindJob.
    bool from_changes = false;
    /// Number of frames whose pixels were decoded.
    std::int64_t decoded_frames = 0;
};

/// Finds the times when something moves in a source. A job runs once.
///
/// A `.fwd` recording states which blocks change in each frame. If the whole of it is searched without filters on the
/// CPU, only these statements are read, which takes milliseconds per minute of video; the detector then runs only where
/// more changes than usual, on the part of the picture that changes, beginning early enough to learn the background.
/// All other sources are decoded, and the detector sees every frame.
class FindJob {
public:
    /// Opens the source. Throws as FrameJob and make_detector() do.
    explicit FindJob(const FindOptions& options);
    ~FindJob();

    /// Runs the job; may be called once. If the source is damaged, everything readable is searched before the error is
    /// thrown.
    const FindResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const FindResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

    /// Interface of the two kinds of search.
    struct Search;

private:
    std::unique_ptr<Search> search_;
};

/// Returns the options of a job that cuts one motion range out of the source of `options`. The clip's name consists of
/// the source's name and the time of the first frame, see clip_name(). Clips of recordings in the same format keep
/// every byte.
RunOptions clip_of(const FindOptions& options, const FindResult& result, const MotionRange& range,
                   const ClipOptions& clips);

}  // namespace framewire::jobs
