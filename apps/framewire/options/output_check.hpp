#pragma once

#include "options/common.hpp"

#include "framewire/media/files/run_files.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// The files that options name, gathered before anything is opened.
class RunFiles {
public:
    /// What a source reads, and writes beside.
    RunFiles& source(const std::string& text);
    /// One file that is read; none where `path` is empty.
    RunFiles& input(const std::string& option, const std::string& path);
    /// What a sink of this text writes; none where it is empty.
    RunFiles& sink(const std::string& option, const std::string& text);
    /// One file that is written, - for standard output; none where `path` is empty.
    RunFiles& output(const std::string& option, const std::string& path);

    /// Throws Error{usage} where an output is an input or another output. Outputs that are there already are replaced
    /// with -y, asked about on a terminal, and refused elsewhere with Error{io}. False where -n keeps them and there is
    /// nothing to do; else `common.replace` says what the outputs may do.
    bool may_write(CommonOptions& common, const std::stop_token& stop) const;

private:
    std::vector<RunFile> inputs_, outputs_;
};

}  // namespace framewire::app
