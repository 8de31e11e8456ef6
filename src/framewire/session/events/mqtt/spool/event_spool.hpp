#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/session/events/mqtt/spool/spool_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace framewire::session {

/// Queue of events for a broker, in order. An event stays in the queue from add() until forget(): first it waits, then
/// hand_out() returns it, and forget() removes it when the broker has acknowledged it. If the limit is exceeded, the
/// oldest waiting event is dropped. For one thread at a time.
class EventSpool {
public:
    /// Continues with the events of the file at `path`; empty: memory only. Throws as SpoolFile does.
    EventSpool(std::size_t limit, const std::string& path);

    /// Appends an event.
    void add(const SharedEvent& event);

    /// An event that was handed out, with its number for forget().
    struct Handed {
        std::uint64_t number = 0;
        SharedEvent event{};
    };
    /// Returns the next waiting event; empty if there is none.
    std::optional<Handed> hand_out();
    /// Removes an event that was handed out and delivered.
    void forget(std::uint64_t number);

    /// Number of events in the queue.
    std::size_t size() const { return events_.size(); }
    /// Returns true if the queue has a motion event of this camera.
    bool has_motion_of(const std::string& camera) const;
    /// Number of events dropped so far.
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
    // last number given, and the last one handed out
    std::uint64_t newest_ = 0, handed_ = 0;
    std::int64_t dropped_ = 0;
    bool failed_ = false;
    Clock::time_point next_attempt_{};
};

}  // namespace framewire::session
