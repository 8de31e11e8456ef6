#pragma once

#include "framewire/core/time.hpp"
#include "framewire/service/events.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::service {

/// Waiting events by their consecutive numbers.
using WaitingEvents = std::map<std::uint64_t, SharedEvent>;

/// Log file of waiting events: one line when an event is added and one line when it is forgotten. If the program is
/// killed, at most the last line is incomplete. The file is locked, so only one program uses it at a time. Format:
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
        /// Number of events dropped because they exceeded the limit, the oldest ones.
        std::size_t dropped = 0;
        /// Number of invalid lines, which were skipped. An incomplete last line does not count.
        std::size_t damaged = 0;
    };
    /// Returns the newest `limit` waiting events. Throws Error{config} if the file has another format, and Error{io} if
    /// it cannot be read.
    Read read(std::size_t limit);

    /// Atomically replaces the file with one that contains these events. Throws Error{io} and then leaves the old file
    /// unchanged.
    void rewrite(const WaitingEvents& waiting);
    /// Appends the line of an event. Returns false if that fails; the file must then be rewritten.
    bool add(std::uint64_t number, std::string_view json);
    /// Appends the line that marks an event as forgotten. Returns false if that fails, like add().
    bool forget(std::uint64_t number);

    /// Returns the size of the file in bytes.
    std::size_t bytes() const { return bytes_; }
    /// Returns the path of the file.
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int descriptor_;
    std::size_t bytes_ = 0;
};

/// Queue of events for a broker, in order. An event stays in the queue from add() until forget(): first it waits, then
/// hand_out() returns it, and forget() removes it when the broker has acknowledged it. If the limit is exceeded, the
/// oldest waiting event is dropped. Use it from one thread at a time.
class EventSpool {
public:
    /// Continues with the events in the file at `path`. If `path` is empty, keeps events in memory only. Throws the
    /// errors of SpoolFile.
    EventSpool(std::size_t limit, const std::string& path);

    /// Appends an event.
    void add(const SharedEvent& event);

    /// An event that was handed out, with its number for forget().
    struct Handed {
        std::uint64_t number = 0;
        SharedEvent event{};
    };
    /// Returns the next waiting event, or nullopt if there is none.
    std::optional<Handed> hand_out();
    /// Removes an event that was handed out and delivered.
    void forget(std::uint64_t number);

    /// Returns the number of events in the queue.
    std::size_t size() const { return events_.size(); }
    /// Returns true if the queue has a motion event of this camera.
    bool has_motion_of(const std::string& camera) const;
    /// Returns the number of events dropped so far.
    std::int64_t dropped() const { return dropped_; }
    /// Returns true if the events outlive the program.
    bool is_kept() const { return file_ && !failed_; }

private:
    void drop_oldest();
    void keep(bool written);

    std::size_t limit_;
    std::optional<SpoolFile> file_{};
    WaitingEvents events_{};
    // bytes of all events in the queue
    std::size_t live_bytes_ = 0;
    // number of the newest event, and of the last one handed out
    std::uint64_t newest_ = 0, handed_ = 0;
    std::int64_t dropped_ = 0;
    bool failed_ = false;
    Clock::time_point next_attempt_{};
};

}  // namespace framewire::service
