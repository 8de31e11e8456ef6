#pragma once

#include <string>
#include <utility>

namespace framewire {

/// A path's folder with its slash, empty where there is none, and the name in it.
std::pair<std::string, std::string> split_path(const std::string& path);

/// Whether an output's path means standard output: `-`, or the name that Linux has for it.
bool is_standard_output(const std::string& path);

/// Where the last of a chain of symbolic links leads, whether something is there or not.
std::string followed(std::string path);

}  // namespace framewire
