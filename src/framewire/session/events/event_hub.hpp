#pragma once

#include "framewire/session/events/event_feeds.hpp"
#include "framewire/session/events/event_options.hpp"
#include "framewire/session/events/event_output.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace framewire::session {

/// Counters of an EventHub.
struct EventFigures {
    /// Events sent, by type.
    std::int64_t objects = 0, motion = 0;
    /// Frames skipped because they arrived faster than events could be made of them.
    std::int64_t left_out = 0;
};

/// Turns what cameras with a detector see into events, and sends these to all outputs and HTTP clients. The sending
/// threads only queue frames; a thread of the hub makes the events.
///
/// Each camera starts with motion OFF, then switches ON and OFF by MotionRules, and ends with OFF. In addition there is
/// an event of objects for each frame that has some, limited to EventOptions::objects_rate, and always one for the
/// first frame without objects.
class EventHub {
public:
    /// `cameras` are the names of those that have a detector. Every event goes to each of `outputs`. Starts the thread.
    EventHub(const EventOptions& options, std::span<const std::string> cameras,
             std::vector<std::unique_ptr<EventOutput>> outputs = {});
    ~EventHub();

    /// Receiver for the frames of one camera, which must be one of those given to the constructor. Valid as long as the
    /// hub.
    SeenObjects& of(const std::string& camera);
    /// Feeds for HTTP clients; from any thread.
    const EventFeeds& feeds() const;
    /// Counters so far; from any thread.
    EventFigures figures() const;

    /// Call it once, when no more frames arrive. Sends the remaining events, waiting for outputs until `deadline` at
    /// most, and ends all feeds.
    void end(Clock::time_point deadline);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
