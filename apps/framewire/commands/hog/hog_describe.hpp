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

/// Computes the descriptors of a source, or of the images of a folder, whose sizes may differ.
void describe(HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);
/// Computes the descriptors of many files and writes one .npy file for each.
void describe_many(const Command& command, HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);

}  // namespace framewire::app
