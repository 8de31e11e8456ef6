#pragma once

#include "framewire/media/files/run_files.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// What an output holds, and the endings of names that say so.
struct FileFormat {
    std::string_view name;
    std::vector<std::string_view> endings;
};

/// JSON lines, one for each frame or image.
inline const FileFormat json_lines_format{"JSON lines", {".jsonl", ".ndjson"}};
inline const FileFormat npy_format{"NumPy arrays", {".npy"}};

/// The files that a job's options name, gathered before anything is opened. Messages call them by the program's
/// options.
class JobFiles {
public:
    /// What a source reads, and writes beside. Throws as files_read_by() does.
    JobFiles& source(const std::string& text);
    /// One file that is read; none where `path` is empty.
    JobFiles& input(const std::string& option, const std::string& path);
    /// What a sink of this text writes; none where it is empty.
    JobFiles& sink(const std::string& option, const std::string& text);
    /// One file that is written, - for standard output; none if `path` is empty. require_different() wants one
    /// of the format's endings, in small or capital letters; standard output, devices, pipes and sockets need none.
    JobFiles& output(const std::string& option, const std::string& path, const FileFormat& format);
    /// The same for bytes that are not text, as a sink's.
    JobFiles& bytes(const std::string& option, const std::string& path, const FileFormat& format);
    /// `--stats`.
    JobFiles& statistics(const std::string& path);
    /// Those in `folder`, one for each image of the folder `source`. Throws as outputs_of() does.
    JobFiles& outputs(const std::string& option, const std::string& folder, const std::string& source,
                      std::string_view ending);

    /// All that other jobs' options name.
    JobFiles& add(const JobFiles& others);

    const std::vector<RunFile>& inputs() const { return inputs_; }
    const std::vector<RunFile>& outputs() const { return outputs_; }

    /// Throws Error{usage} if an output is an input or another output, and if one lacks its format's ending.
    void require_different() const;
    /// Outputs that are there already.
    std::vector<RunFile> there() const { return files_there(outputs_); }
    bool reads_standard_input() const;
    /// The option by which bytes that are no words go to standard output; empty where none do.
    const std::string& bytes_to_standard_output() const { return bytes_to_standard_output_; }

private:
    void add_output(const std::string& option, const std::string& path);

    std::vector<RunFile> inputs_, outputs_;
    std::string bytes_to_standard_output_;
    std::string ending_problem_;  // of the first output that lacks its format's ending
};

/// Throws Error{usage} where more than one of the outputs, which are called `names` together, is standard output.
void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names);

}  // namespace framewire::session
