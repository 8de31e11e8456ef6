#pragma once

#include "framewire/pipeline/frames/frame_hog.hpp"
#include "framewire/session/hog/describe_options.hpp"
#include "framewire/session/input/folder_input.hpp"
#include "framewire/session/job/frame_job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire::session {

/// Descriptors of a folder's images of any sizes, an image NAME.png's into NAME.npy of the output folder, which is made
/// where it is missing. Each file is there when it is whole, those before an image that cannot be read too. For one
/// run.
class DescribeFolderJob {
public:
    /// Throws as FrameJob does, and Error{usage} where the source is no folder and where two images have one name but
    /// for their endings.
    explicit DescribeFolderJob(const DescribeOptions& options);

    /// To be called once. Throws what failed on the way, with the image's name.
    const DescribeResult& run();
    /// Of run(), when it threw, too.
    const DescribeResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    // What an image comes to. The plan goes when the last image that it was for is written; it waits for what it
    // started, so it goes before the descriptors do.
    struct Found {
        FrameDescriptors descriptors;
        std::shared_ptr<FrameHog> hog;

        void wait() { descriptors.wait(); }
    };

    void start(InputFrame& frame, Found& found);
    void send(InputFrame& frame, const FrameTime& time, Found& found);

    DescribeOptions options_;
    FrameJob<FolderInput> job_;
    std::vector<std::string> outputs_;
    int under_way_;
    std::shared_ptr<FrameHog> hog_;
    Shape described_{};  // what hog_ is for
    std::int64_t sent_bytes_ = 0;
    DescribeResult result_;
};

}  // namespace framewire::session
