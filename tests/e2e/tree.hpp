#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace framewire::e2e {

/// Files by their names, with their bytes.
using Tree = std::map<std::string, std::string>;

/// Every file below a folder, hidden ones too; names as seen from it.
Tree tree(const std::filesystem::path& folder);

/// A line for each file that is in one of both only, or has other bytes in the second; empty where both are the same.
std::string differences(const Tree& first, const Tree& second);

}  // namespace framewire::e2e
