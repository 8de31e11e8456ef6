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

/// What descriptors go by.
struct DescribeOptions {
    JobOptions job{};
    InputOptions input{};
    HogParameters hog{};
    std::string output{};            ///< a .npy file, or of a DescribeFolderJob the folder they go to
    std::string steps_folder{};      ///< for pictures of a frame's steps; empty: none wanted
    StepFrames steps_of{};           ///< of these, each in a folder of its own there; empty: of the first
    std::optional<int> under_way{};  ///< frames at once; none: as many as suit the backend

    /// How many. Throws Error{usage} on more than the backend takes.
    int frames_under_way_on(Backend backend) const;
};

/// The range and help of `under_way`, which the command line calls streams.
const ParameterFields<DescribeOptions>& describe_fields();

/// What these options read and write; where the output is a folder, a file for each image.
JobFiles files_of(const DescribeOptions& options);

/// Where pictures of a frame's steps go: below the folder of the steps one by its number, or by the name of the `image`
/// that it is; empty where they are not wanted.
std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image = {});

struct DescribeResult : JobResult {
    DescriptorSummary descriptors{};
    std::optional<HogShape> shape{};  ///< of a frame's, where all frames have one
};

/// An image's array is rows x columns x values; a video's has the frames before.
std::vector<std::int64_t> array_shape(const HogShape& shape);

}  // namespace framewire::session
