#pragma once

#include <span>
#include <string>
#include <vector>

namespace framewire {

/// A file that a run reads or writes, and the option that names it.
struct RunFile {
    std::string option;  ///< as the user writes it: -o, --stats
    std::string path;    ///< or - for standard input or output
};

/// Throws Error{usage} when an output is an input or another output: one file of the file system, whatever paths and
/// links lead to it. Devices may be named several times.
void require_different_files(std::span<const RunFile> inputs, std::span<const RunFile> outputs);

/// Those of the outputs that are files already.
std::vector<RunFile> files_there(std::span<const RunFile> outputs);

}  // namespace framewire
