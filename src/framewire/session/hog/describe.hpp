#pragma once

#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/hog/describe_options.hpp"

#include <memory>

namespace framewire::session {

/// From a source through filters to descriptors, as one .npy of float32; a video's, and a folder's, have frames first.
/// For one run.
class DescribeJob {
public:
    /// Opens all there is, what is cheap to refuse first and the output last. Throws as FrameJob, FrameHog and NpyFile
    /// do.
    explicit DescribeJob(const DescribeOptions& options);
    ~DescribeJob();

    /// To be called once. Throws what failed on the way, after what was computed before was written; Error{no_input}
    /// where the source has no frames.
    const DescribeResult& run();
    /// Of run(), when it threw, too.
    const DescribeResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
