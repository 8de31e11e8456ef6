#pragma once

#include "framewire/session/events/event.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace framewire::session {

/// Events that wait, by the numbers of their order.
using WaitingEvents = std::map<std::uint64_t, SharedEvent>;

/// A file of events that wait: a line for each event, and a line when it is forgotten. A program that is killed leaves
/// it whole, but perhaps for its last line. One program at a time has it.
class SpoolFile {
public:
    /// Opens or makes it; read() comes next. Throws Error{io} where that is not possible, Error{config} where another
    /// program has it.
    explicit SpoolFile(const std::string& path);
    ~SpoolFile();
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    struct Read {
        WaitingEvents waiting{};
        std::size_t dropped = 0;  ///< the oldest of more than the limit
        std::size_t damaged = 0;  ///< lines that were left out; the last one may be cut off and does not count
    };
    /// What waits, the newest `limit` of them. Throws Error{config} where it is a file of something else, Error{io}.
    Read read(std::size_t limit);

    /// Writes those that wait into a new file, which takes the place of this one once it is whole. Throws Error{io};
    /// the file is as before then.
    void write_anew(const WaitingEvents& waiting);
    /// False where it could not be written: the file has to be written anew then.
    bool add(std::uint64_t number, std::string_view json);
    bool forget(std::uint64_t number);

    std::size_t bytes() const { return bytes_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int descriptor_;
    std::size_t bytes_ = 0;
};

}  // namespace framewire::session
