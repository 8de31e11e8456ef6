#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace framewire::e2e {

/// File contents by relative file name.
using Tree = std::map<std::string, std::string>;

/// Returns every file below a folder, including hidden ones; names are relative to it.
Tree tree(const std::filesystem::path& folder);

/// Returns one line per file that is in only one of the trees or differs between them; empty if both are equal.
std::string differences(const Tree& first, const Tree& second);

}  // namespace framewire::e2e
