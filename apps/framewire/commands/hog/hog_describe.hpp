#pragma once

#include "commands/hog/hog_flags.hpp"

#include <stop_token>
#include <string>

namespace framewire::app {

/// The flags of descriptors.
struct DescribeFlags {
    std::string steps_folder;
    ParameterValues given;  ///< those of session::describe_fields() on the command line
};

/// From a source, or a folder's images of any sizes, to descriptors.
void describe(HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);
/// The same of many files, a .npy each.
void describe_many(const Command& command, HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);

}  // namespace framewire::app
