#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// Reads bytes from a file, a pipe or standard input. A read from a pipe waits for as long as the pipe has a writer; a
/// stop request ends the wait. Not thread-safe.
class InputFile {
public:
    /// Opens `path`, or standard input for "-". Throws Error{no_input}.
    InputFile(const std::string& path, std::stop_token stop);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Reads until `bytes` bytes have arrived, the file ends or a stop is requested; returns the number of bytes read.
    /// Throws Error{source_lost} if reading fails.
    std::size_t read(void* data, std::size_t bytes);

    /// Returns the next byte, or -1 at the end.
    int get();

    /// Returns the position of the next byte in a file that supports go_to().
    std::int64_t position_bytes() const { return position_bytes_ - static_cast<std::int64_t>(end_ - begin_); }
    /// Continues reading at another position. Returns false and changes nothing if the position is outside the file or
    /// the file is not a regular one, or is standard input.
    bool go_to(std::int64_t position_bytes);

    /// Returns true if a stop was requested.
    bool stopped() const { return stop_.stop_requested(); }
    /// Returns the path as given, or the name shown for standard input.
    const std::string& name() const { return name_; }
    /// Returns the length of a regular file; -1 for anything else.
    std::int64_t length_bytes() const { return length_bytes_; }

private:
    // Reads the available bytes: at least one, unless the file ends.
    std::size_t fill(void* data, std::size_t bytes);
    // Reads from a regular file in parallel.
    std::size_t fill_from_file(unsigned char* data, std::size_t bytes);

    std::string name_;
    std::stop_token stop_;
    int descriptor_ = -1;
    std::int64_t length_bytes_ = -1;
    bool has_places_ = false;
    std::int64_t position_bytes_ = 0;  // position in the file after the bytes in buffer_
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    unsigned char buffer_[4096];
};

/// Returns the URL in the form that FFmpeg accepts. `{file:PATH}` and `{env:NAME}` in `text` are replaced by the first
/// line of a file and by an environment variable, percent-encoded, so that secrets appear neither on the command line
/// nor in displayed names. Spaces are percent-encoded too. Throws Error{no_input} if the file or variable does not
/// exist, and Error{usage} if a value is empty, longer than 4096 bytes, contains control characters, or cannot be used
/// with the protocol.
std::string network_address(const std::string& text);

/// Splits a path into its folder with the trailing slash (empty if there is none) and the name in that folder.
std::pair<std::string, std::string> split_path(const std::string& path);

/// Returns true if an output path means standard output: `-` or Linux's name for it.
bool is_standard_output(const std::string& path);

/// Returns the target of a chain of symbolic links, whether or not it exists.
std::string followed(std::string path);

/// File that a run reads or writes, and the option that names it.
struct RunFile {
    std::string option;  ///< option as the user writes it: -o, --stats
    std::string path;    ///< path, or - for standard input or output
};

/// Throws Error{usage} if an output is also an input or another output. Files are compared by identity in the file
/// system, so the check also finds different paths and links to one file. Devices may be named several times.
void require_different_files(std::span<const RunFile> inputs, std::span<const RunFile> outputs);

/// Returns the outputs that already exist as files.
std::vector<RunFile> files_there(std::span<const RunFile> outputs);

/// Interval at which a wait for the other end of a file checks for a stop request.
constexpr int stop_poll_ms = 100;

}  // namespace framewire
