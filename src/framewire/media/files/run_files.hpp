#pragma once

#include <span>
#include <string>
#include <vector>

namespace framewire {

/// File that a run reads or writes, and the option that names it.
struct RunFile {
    std::string option;  ///< as the user writes it: -o, --stats
    std::string path;    ///< or - for standard input or output
};

/// Throws Error{usage} if an output is also an input or another output. Files are compared by identity in the file
/// system, so different paths and links to one file are found. Devices may be named several times.
void require_different_files(std::span<const RunFile> inputs, std::span<const RunFile> outputs);

/// The outputs that already exist as files.
std::vector<RunFile> files_there(std::span<const RunFile> outputs);

}  // namespace framewire
