#pragma once

#include "framewire/media/media.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"

#include <memory>
#include <string>

namespace framewire::session {

/// When frames that do not come live are handed on.
enum class Pace {
    by_output,  ///< at their own times where the output is a URL, for nobody can take a stream faster than it plays
    own,        ///< no sooner than their own times
    hurried,    ///< as soon as they are there
};

struct RunOptions {
    JobOptions job{};
    InputOptions input{};
    std::string output{};       ///< see open_sink()
    SegmentOptions segments{};  ///< of a recording in pieces
    bool audio = true;          ///< the source's sound goes along where the output takes it
    Pace pace = Pace::by_output;
};

/// What these options read and write.
JobFiles files_of(const RunOptions& options);

/// From a source through filters to a sink. For one run.
class RunJob {
public:
    /// Opens all there is, what is cheap to refuse first and the output last. Throws as FrameJob and open_sink() do.
    explicit RunJob(const RunOptions& options);
    ~RunJob();

    /// To be called once. Throws what failed on the way, after what was sent before it was completed; Error{no_input}
    /// where the source has no frames.
    const JobResult& run();
    /// Of run(), when it threw, too.
    const JobResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
