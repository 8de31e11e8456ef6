#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace framewire {

/// Bytes from a file, a pipe or standard input. A pipe is waited for as long as its writer lives, but a stop ends
/// the wait.
class InputFile {
public:
    /// Opens `path`, or standard input for "-". Throws Error{no_input}.
    InputFile(const std::string& path, std::stop_token stop);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// Reads until `bytes` are there, the file ends or a stop is asked for; gives how many there are.
    /// Throws Error{source_lost} when reading fails.
    std::size_t read(void* data, std::size_t bytes);

    /// The next byte, or -1 at the end.
    int get();

    bool stopped() const { return stop_.stop_requested(); }
    const std::string& name() const { return name_; }
    /// Length of a regular file; -1 of anything else.
    std::int64_t length_bytes() const { return length_bytes_; }

private:
    std::size_t fill(void* data, std::size_t bytes);

    std::string name_;
    std::stop_token stop_;
    int descriptor_ = -1;
    std::int64_t length_bytes_ = -1;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    unsigned char buffer_[4096];
};

/// Bytes to a file that appears under its name only when whole: written beside it under a temporary name, renamed by
/// finish(), removed without it. What is no regular file (a pipe, a device) and standard output are written directly.
class OutputFile {
public:
    /// Opens `path`, or standard output for "-". Throws Error{io}.
    explicit OutputFile(const std::string& path, std::stop_token stop = {});
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Writes all bytes. Throws Error{io}; also when a stop was asked for and nobody reads the pipe for a second.
    void write(const void* data, std::size_t bytes);
    /// Moves to a position of a regular file. Throws Error{io}.
    void seek(std::int64_t position_bytes);
    /// Closes, and lets the file appear. Throws Error{io}.
    void finish();

    bool seekable() const { return !temporary_.empty(); }
    /// The furthest position written.
    std::int64_t bytes() const { return bytes_; }
    const std::string& name() const { return name_; }

private:
    void wait_until_writable();
    [[noreturn]] void fail_io(const char* doing) const;

    std::string name_;       // as the user wrote it
    std::string path_;       // where it goes, symbolic links followed
    std::string temporary_;  // empty when written directly
    std::stop_token stop_;
    int descriptor_ = -1;
    bool pipe_ = false;
    std::int64_t position_bytes_ = 0;
    std::int64_t bytes_ = 0;
};

}  // namespace framewire
