#pragma once

#include "framewire/hog/hog.hpp"
#include "framewire/session/hog/descriptor_summary.hpp"
#include "framewire/session/hog/steps/step_frames.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framewire {
template <class Aggregate>
class ParameterFields;
}

namespace framewire::session {

/// Options of a DescribeJob or DescribeFolderJob.
struct DescribeOptions {
    JobOptions job{};
    InputOptions input{};
    HogParameters hog{};
    /// A .npy file, or the output folder of a DescribeFolderJob.
    std::string output{};
    /// Optional. Folder for pictures of the algorithm's steps.
    std::string steps_folder{};
    /// Frames whose steps are drawn, each in its own subfolder. Empty: the first frame, without a subfolder.
    StepFrames steps_of{};
    /// Optional. Number of frames in flight. Default: as many as suit the backend.
    std::optional<int> under_way{};

    /// Returns the number of frames in flight. Throws Error{usage} if it is more than the backend supports.
    int frames_under_way_on(Backend backend) const;
};

/// Range and help of `under_way`, which is called `streams` on the command line.
const ParameterFields<DescribeOptions>& describe_fields();

/// Returns the files that these options read and write; if the output is a folder, one file per image.
JobFiles files_of(const DescribeOptions& options);

/// Returns the folder for the step pictures of a frame: a subfolder named after the frame's number or, for a folder of
/// images, after the `image`. Empty if they are not wanted.
std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image = {});

/// Outcome of a DescribeJob or DescribeFolderJob.
struct DescribeResult : JobResult {
    DescriptorSummary descriptors{};
    /// Shape of the descriptors; empty if frames have different shapes.
    std::optional<HogShape> shape{};
};

/// Returns the shape of one frame's array: rows x columns x values. A video's array has the number of frames before
/// these.
std::vector<std::int64_t> array_shape(const HogShape& shape);

}  // namespace framewire::session
