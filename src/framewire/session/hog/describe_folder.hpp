#pragma once

#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/hog/describe_options.hpp"

#include <memory>

namespace framewire::session {

/// Descriptors of a folder's images of any sizes, an image NAME.png's into NAME.npy of the output folder, which is made
/// where it is missing. Each file is there when it is whole. An image that fails is logged and left out. For one run.
class DescribeFolderJob {
public:
    /// Throws as FrameJob does, and Error{usage} where the source is no folder and where two images have one name but
    /// for their endings.
    explicit DescribeFolderJob(const DescribeOptions& options);
    ~DescribeFolderJob();

    /// To be called once. Throws after the last image if some failed, and what ended the run early.
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
