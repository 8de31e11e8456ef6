#pragma once

#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/hog/describe_options.hpp"

#include <memory>

namespace framewire::session {

/// Computes HOG descriptors (Dalal and Triggs 2005) of the filtered frames of a source and writes them as one .npy file
/// of float32. The array of a video or folder has a leading axis of frames. A job runs once.
class DescribeJob {
public:
    /// Opens the source, then everything else, cheap checks first and the output last. Throws as FrameJob, FrameHog and
    /// NpyFile do.
    explicit DescribeJob(const DescribeOptions& options);
    ~DescribeJob();

    /// Runs the job; may be called once. If anything fails, the descriptors computed before are written, and the first
    /// error is thrown. Throws Error{no_input} if the source has no frames.
    const DescribeResult& run();
    /// Result of run(), valid even if it threw.
    const DescribeResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
