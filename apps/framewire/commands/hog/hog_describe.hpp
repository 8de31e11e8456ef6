#pragma once

#include "commands/hog/hog_flags.hpp"

#include <optional>
#include <stop_token>
#include <string>

namespace framewire::app {

/// The flags of descriptors.
struct DescribeFlags {
    std::string steps_folder, steps_frames;
    std::optional<int> streams;
};

/// From a source, or a folder's images of any sizes, to descriptors.
void describe(HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop);

}  // namespace framewire::app
