#pragma once

#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/statistics.hpp"

#include <memory>
#include <string>

namespace framewire::jobs {

/// Decides when frames of a source that is not live are passed on.
enum class Pace {
    /// At their own times if the output is a URL, because a stream is consumed no faster than it plays; otherwise as
    /// soon as they are available.
    by_output,
    /// No earlier than their own times.
    own,
    /// As soon as they are available.
    hurried,
};

/// Options of a RunJob.
struct RunOptions {
    JobOptions job{};
    InputOptions input{};
    /// Sink for the filtered frames, see open_sink().
    std::string output{};
    /// How the output is split into segments.
    SegmentOptions segments{};
    /// If true, the source's sound is copied, if the output can hold sound.
    bool audio = true;
    Pace pace = Pace::by_output;
};

/// Returns the files that these options read and write.
JobFiles files_of(const RunOptions& options);

/// Sends one source through filters to a sink. A job runs once.
class RunJob {
public:
    /// Opens the source first and then everything else, cheap checks first and the output last. Throws as FrameJob and
    /// open_sink() do.
    explicit RunJob(const RunOptions& options);
    ~RunJob();

    /// Runs the job; may be called once. If a stage fails, the output is completed with the frames sent so far, and the
    /// first error is thrown. Throws Error{no_input} if the source has no frames.
    const JobResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const JobResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::jobs
