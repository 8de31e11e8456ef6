#pragma once

#include "commands/hog/hog_flags.hpp"

#include <stop_token>
#include <string>

namespace framewire::app {

/// Flags for computing descriptors.
struct DescribeFlags {
    std::string steps_folder, steps_frames;
    ParameterValues given;  ///< values of jobs::describe_fields() from the command line
};

/// Computes descriptors of a source, or of a folder's images of any size.
void describe(HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);
/// Computes descriptors of many files, one .npy per file.
void describe_many(const Command& command, HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);

}  // namespace framewire::app
