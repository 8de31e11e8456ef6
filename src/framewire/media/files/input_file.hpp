#pragma once

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

    /// Whether the following two can be: of a regular file that is no standard input.
    bool has_places() const { return has_places_; }
    /// Reads `bytes` from a place on, by the calling thread alone; gives how many are there. From any thread, and
    /// beside all that else is done. Throws Error{source_lost} when reading fails.
    std::size_t read_at(std::int64_t position_bytes, void* data, std::size_t bytes) const;
    /// Goes behind the next bytes without reading them. False, and nothing changes, where not all of them are there.
    bool skip(std::int64_t bytes);

    /// Where the next byte is, of a regular file that is no standard input.
    std::int64_t position_bytes() const { return position_bytes_ - static_cast<std::int64_t>(end_ - begin_); }
    /// Reads on from another place. False, and nothing changed, where that is none or this no such file.
    bool go_to(std::int64_t position_bytes);

    bool stopped() const { return stop_.stop_requested(); }
    const std::string& name() const { return name_; }
    /// Length of a regular file; -1 of anything else.
    std::int64_t length_bytes() const { return length_bytes_; }

private:
    std::size_t fill(void* data, std::size_t bytes);
    std::size_t fill_from_file(unsigned char* data, std::size_t bytes);

    std::string name_;
    std::stop_token stop_;
    int descriptor_ = -1;
    std::int64_t length_bytes_ = -1;
    bool has_places_ = false;
    std::int64_t position_bytes_ = 0;  // of it, behind what was read
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    unsigned char buffer_[4096];
};

}  // namespace framewire
