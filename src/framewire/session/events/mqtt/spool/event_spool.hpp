#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/session/events/mqtt/spool/spool_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace framewire::session {

/// Events on their way to a broker, in their order: those that were handed out and not forgotten yet, and those that
/// wait for that. Where there are more than its limit, the oldest that waits is dropped. For one thread at a time.
class EventSpool {
public:
    /// Goes on with what is in the file; an empty path: in memory alone. Throws as SpoolFile does.
    EventSpool(std::size_t limit, const std::string& path);

    void add(const SharedEvent& event);

    struct Handed {
        std::uint64_t number = 0;
        SharedEvent event{};
    };
    /// The next one; none: all there are were handed out.
    std::optional<Handed> hand_out();
    /// One that was handed out is where it should be.
    void forget(std::uint64_t number);

    /// What is not forgotten yet.
    std::size_t size() const { return events_.size(); }
    bool has_motion_of(const std::string& camera) const;
    std::int64_t dropped() const { return dropped_; }
    /// Whether what is not forgotten outlives the program.
    bool is_kept() const { return file_ && !failed_; }

private:
    void drop_oldest();
    void keep(bool written);

    std::size_t limit_;
    std::optional<SpoolFile> file_{};
    WaitingEvents events_{};
    std::size_t live_bytes_ = 0;
    std::uint64_t newest_ = 0, handed_ = 0;  // numbers; those up to `handed_` were handed out
    std::int64_t dropped_ = 0;
    bool failed_ = false;
    Clock::time_point next_attempt_{};
};

}  // namespace framewire::session
