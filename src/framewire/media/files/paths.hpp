#pragma once

#include <string>
#include <utility>

namespace framewire {

/// Folder of a path including the trailing slash (empty if there is none), and the name in that folder.
std::pair<std::string, std::string> split_path(const std::string& path);

/// True if an output path means standard output: `-` or Linux's name for it.
bool is_standard_output(const std::string& path);

/// Target of a chain of symbolic links, whether or not it exists.
std::string followed(std::string path);

}  // namespace framewire
