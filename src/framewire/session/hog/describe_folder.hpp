#pragma once

#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/hog/describe_options.hpp"

#include <memory>

namespace framewire::session {

/// Computes HOG descriptors of the images of a folder, which may have any sizes. Image NAME.png becomes NAME.npy in the
/// output folder, which is created if necessary. Files appear only when complete. An image that fails is logged and
/// skipped. A job runs once.
class DescribeFolderJob {
public:
    /// Opens the folder. Throws as FrameJob does, and Error{usage} if the source is not a folder or if two images
    /// differ only in their endings.
    explicit DescribeFolderJob(const DescribeOptions& options);
    ~DescribeFolderJob();

    /// Runs the job; may be called once. Throws after the last image if any image failed, and if the run ended early.
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
