#pragma once

#include "framewire/session/events/event.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace framewire::session {

/// Waiting events by their consecutive numbers.
using WaitingEvents = std::map<std::uint64_t, SharedEvent>;

/// File of waiting events: a log with one line per event and one line when it is forgotten. If the program is killed,
/// at most the last line is incomplete. The file is locked, so only one program uses it at a time. Format:
///     framewire events 1
///     +17 {"type":"motion",...}
///     -17
class SpoolFile {
public:
    /// Opens or creates the file; call read() next. Throws Error{io} if that fails, and Error{config} if another
    /// program uses it or it is not a regular file.
    explicit SpoolFile(const std::string& path);
    ~SpoolFile();
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    /// Contents of the file.
    struct Read {
        WaitingEvents waiting{};
        /// Events beyond the limit, the oldest ones.
        std::size_t dropped = 0;
        /// Lines that were skipped. An incomplete last line does not count.
        std::size_t damaged = 0;
    };
    /// Returns the waiting events, the newest `limit` of them. Throws Error{config} if the file has another format, and
    /// Error{io}.
    Read read(std::size_t limit);

    /// Replaces the file by one with these events, atomically. Throws Error{io} and then leaves the old file unchanged.
    void write_anew(const WaitingEvents& waiting);
    /// Appends the line of an event. Returns false if that fails; then the file must be rewritten.
    bool add(std::uint64_t number, std::string_view json);
    /// Appends the line that forgets an event, with the same result.
    bool forget(std::uint64_t number);

    /// Size of the file.
    std::size_t bytes() const { return bytes_; }
    /// Path of the file.
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int descriptor_;
    std::size_t bytes_ = 0;
};

}  // namespace framewire::session
