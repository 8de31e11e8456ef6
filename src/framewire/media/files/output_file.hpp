#pragma once

#include "framewire/pipeline/source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire {

struct OutputFileOptions {
    std::stop_token stop{};  ///< ends waits for the reader of a pipe
    bool replace = false;    ///< a finished file of the name gives way when this one is complete; else it is refused
    bool once_only = false;  ///< what comes cannot be had again: what a killed run left is kept under another name
};

/// Bytes to a file that appears under its name only when it is whole: written as NAME.part beside it, which finish()
/// renames. A file that is replaced hands its permissions on. NAME.part is locked while it is written, so that two
/// runs cannot write one output, and one that is there and not locked is what a killed run left: it is removed, or kept
/// under another name, and the log says so. What is no regular file (a pipe, a device) and standard output are written
/// directly.
class OutputFile {
public:
    /// Opens `path`, or standard output for "-". A pipe is waited for until it has a reader. Throws Error{io}, also
    /// when a file is there that may not be replaced.
    explicit OutputFile(const std::string& path, OutputFileOptions options = {});
    /// Without finish() before, removes what was written, or leaves as NAME.part what mark_whole() says.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Writes all bytes. Throws Error{io}; also when a stop was asked for and nobody reads the pipe for a second.
    void write(const void* data, std::size_t bytes);
    /// Moves to a position of a regular file. Throws Error{io}.
    void seek(std::int64_t position_bytes);
    /// What is written up to here is of use as it is, whatever becomes of the rest.
    void mark_whole() { whole_bytes_ = bytes_; }
    /// Brings what was written to the disk, where it goes to one. Throws Error{io}.
    void sync();
    /// Takes other bytes for those written so far: `write` gets descriptors of the file and of an empty one, to be read
    /// and written at any place. What it throws leaves the file as it was; a kill leaves one of both. Does nothing
    /// where this is no regular file, and on file systems without files that have no name.
    void rewrite(const std::function<void(int from, int to)>& write);
    /// Closes, and lets the file appear, but a broken-off one beside a finished file stays NAME.part. Throws Error{io}.
    void finish(Ending ending = Ending::complete);

    bool seekable() const { return !part_.empty(); }
    /// The furthest position written.
    std::int64_t bytes() const { return bytes_; }
    const std::string& name() const { return name_; }

private:
    void open_directly(bool named_pipe);
    void open_unblocked();
    void open_part();
    std::size_t write_some(const unsigned char* from, std::size_t bytes);
    void wait_until_writable();
    void appear(Ending ending);
    void close_part() noexcept;
    [[noreturn]] void fail_io(const char* doing) const;

    std::string name_;  // as the user wrote it
    std::string path_;  // where it goes, symbolic links followed
    std::string part_;  // empty when written directly
    OutputFileOptions options_;
    int descriptor_ = -1;
    int lock_ = -1;       // holds the lock of the part until it has its name
    bool pipe_ = false;   // or a device that may let us wait
    int unblocked_ = -1;  // the same pipe, whose writes take what there is room for
    std::int64_t position_bytes_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t whole_bytes_ = 0;
};

}  // namespace framewire
