#pragma once

#include "framewire/plan/source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire {

/// Options for opening an output file.
struct OutputFileOptions {
    std::stop_token stop{};  ///< ends waits for the reader of a pipe
    /// Replaces an existing file of the same name when this one is complete. If false, an existing file is an error.
    bool replace = false;
    /// Says that the input cannot be read again, for example a camera: a file left by a killed run is kept under
    /// another name.
    bool once_only = false;
};

/// Writes bytes to a file that gets its name only when it is complete: the bytes go to NAME.part beside it, which
/// finish() renames. The new file gets the permissions of the file that it replaces. NAME.part is locked while it is
/// written, so that two processes cannot write one output. An unlocked NAME.part is left over from a killed process: it
/// is removed, or kept under another name (`once_only`), and the log reports it. Pipes, devices and standard output are
/// written directly. Use an object from one thread.
class OutputFile {
public:
    /// Opens `path`, or standard output for "-". Blocks until a pipe has a reader. Throws Error{io}, for example if the
    /// file exists and may not be replaced.
    explicit OutputFile(const std::string& path, OutputFileOptions options = {});
    /// Without a preceding finish(), removes the file, or keeps it as NAME.part up to the last mark_whole().
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Writes all bytes. Throws Error{io}, also if a stop was requested and no one reads the pipe for a second.
    void write(const void* data, std::size_t bytes);
    /// Moves to a position of a regular file. Throws Error{io}.
    void seek(std::int64_t position_bytes);
    /// Declares the bytes written so far usable on their own, even if the rest never follows.
    void mark_whole() { whole_bytes_ = bytes_; }
    /// Flushes the bytes written so far to the disk, if the destination is on one. Throws Error{io}.
    void sync();
    /// Replaces the bytes written so far: `write` gets descriptors of the file and of an empty new file, both readable
    /// and writable at any position. If it throws, the file is unchanged; if the process is killed, one of the two
    /// remains. Does nothing for destinations other than regular files and on file systems without unnamed files
    /// (O_TMPFILE).
    void rewrite(const std::function<void(int from, int to)>& write);
    /// Closes the file and gives it its name. A truncated file remains NAME.part if a complete one exists under the
    /// name. Throws Error{io}.
    void finish(Ending ending = Ending::complete);

    /// Returns true for a regular file, which seek() and rewrite() need.
    bool seekable() const { return !part_.empty(); }
    /// Returns the end of the furthest write, in bytes.
    std::int64_t bytes() const { return bytes_; }
    /// Returns the path as the user wrote it.
    const std::string& name() const { return name_; }

private:
    // Opens a pipe or device.
    void open_directly(bool named_pipe);
    // Opens a second, non-blocking description of a pipe.
    void open_unblocked();
    // Creates and locks NAME.part.
    void open_part();
    // Writes at least one byte.
    std::size_t write_some(const unsigned char* from, std::size_t bytes);
    // Waits for space in a pipe.
    void wait_until_writable();
    // Renames NAME.part to NAME.
    void appear(Ending ending);
    // Closes the file, then releases the lock.
    void close_part() noexcept;
    // Throws Error{io} for errno: "cannot DOING NAME: ...".
    [[noreturn]] void fail_io(const char* doing) const;

    std::string name_;  // path as the user wrote it
    std::string path_;  // destination, with symbolic links followed
    std::string part_;  // path of NAME.part; empty if written directly
    OutputFileOptions options_;
    int descriptor_ = -1;
    int lock_ = -1;       // holds the lock on the .part file until it is renamed
    bool pipe_ = false;   // destination is a pipe, or a device whose writes may block
    int unblocked_ = -1;  // non-blocking descriptor of the same pipe
    std::int64_t position_bytes_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t whole_bytes_ = 0;
};

/// Copies like memcpy but past the caches (non-temporal stores), for data that is not read soon: the content of the
/// caches is preserved, and lines that are written completely are not read first. The ranges may have any alignment and
/// must not overlap. After the return, the bytes may be published to other threads.
void streaming_copy(void* to, const void* from, std::size_t bytes);

}  // namespace framewire
