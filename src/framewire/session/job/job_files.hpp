#pragma once

#include "framewire/media/files/run_files.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Kind of an output as messages name it, and the file name endings that are allowed for it.
struct FileFormat {
    std::string_view name;
    std::vector<std::string_view> endings;
};

/// JSON lines, one line per frame or image.
inline const FileFormat json_lines_format{"JSON lines", {".jsonl", ".ndjson"}};
/// Arrays as numpy.load() reads them.
inline const FileFormat npy_format{"NumPy arrays", {".npy"}};

/// The files that a job's options name, collected before anything is opened, to detect conflicts. Messages name them by
/// the command-line option. All functions that add files return *this.
class JobFiles {
public:
    /// Adds the files that a source reads, and the file of true objects that it may write. Throws as files_read_by()
    /// does.
    JobFiles& source(const std::string& text);
    /// Adds one input file. Does nothing if `path` is empty.
    JobFiles& input(const std::string& option, const std::string& path);
    /// Adds the files that a sink of this text writes. Does nothing if it is empty.
    JobFiles& sink(const std::string& option, const std::string& text);
    /// Adds one output file; - is standard output. Does nothing if `path` is empty. require_different() demands one of
    /// the format's endings, in any case; standard output, devices, pipes and sockets may have any name.
    JobFiles& output(const std::string& option, const std::string& path, const FileFormat& format);
    /// Does the same for binary data, which a terminal cannot show.
    JobFiles& bytes(const std::string& option, const std::string& path, const FileFormat& format);
    /// Adds the statistics file of `--stats`.
    JobFiles& statistics(const std::string& path);
    /// Adds one output in `folder` per image of the folder `source`, with the given ending. Throws as outputs_of()
    /// does.
    JobFiles& outputs(const std::string& option, const std::string& folder, const std::string& source,
                      std::string_view ending);

    /// Adds all files of another job.
    JobFiles& add(const JobFiles& others);

    /// Input files added so far.
    const std::vector<RunFile>& inputs() const { return inputs_; }
    /// Output files added so far.
    const std::vector<RunFile>& outputs() const { return outputs_; }

    /// Throws Error{usage} if an output is also an input or another output, or if one lacks its format's ending.
    void require_different() const;
    /// Returns the outputs that already exist.
    std::vector<RunFile> there() const { return files_there(outputs_); }
    /// Returns true if one of the inputs is standard input.
    bool reads_standard_input() const;
    /// Option that writes binary data to standard output; empty if none does.
    const std::string& bytes_to_standard_output() const { return bytes_to_standard_output_; }

private:
    void add_output(const std::string& option, const std::string& path);

    std::vector<RunFile> inputs_, outputs_;
    std::string bytes_to_standard_output_;
    // for the first output that lacks its format's ending
    std::string ending_problem_;
};

/// Throws Error{usage} if more than one of the outputs is standard output. `names` are the options, for the message.
void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names);

}  // namespace framewire::session
