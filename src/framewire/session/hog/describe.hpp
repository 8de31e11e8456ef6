#pragma once

#include "framewire/media/formats/npy.hpp"
#include "framewire/pipeline/frames/frame_hog.hpp"
#include "framewire/session/hog/describe_options.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/outputs/written.hpp"

namespace framewire::session {

/// From a source through filters to descriptors, as one .npy of float32; a video's, and a folder's, have frames first.
/// For one run.
class DescribeJob {
public:
    /// Opens all there is, what is cheap to refuse first and the output last. Throws as FrameJob, FrameHog and NpyFile
    /// do.
    explicit DescribeJob(const DescribeOptions& options);

    /// To be called once. Throws what failed on the way, after what was computed before was written; Error{no_input}
    /// where the source has no frames.
    const DescribeResult& run();
    /// Of run(), when it threw, too.
    const DescribeResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    void send(InputFrame& frame, const FrameDescriptors& found);

    DescribeOptions options_;
    FrameJob<FilteredInput> job_;
    int under_way_;
    FrameHog hog_;
    NpyFile output_;
    Written written_;
    DescribeResult result_;
};

}  // namespace framewire::session
