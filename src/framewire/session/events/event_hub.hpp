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

struct EventFigures {
    std::int64_t objects = 0, motion = 0;  ///< events told
    std::int64_t left_out = 0;             ///< frames that came faster than events could be made of them
};

/// What cameras with a detector see, as events for all who want them. Frames are only noted as they come; a thread of
/// its own makes events of them.
///
/// Of each camera there is motion OFF at the start, then ON and OFF by MotionRules, and OFF at the end; and objects of
/// each frame that has some, as often as is allowed, and always of the first frame without.
class EventHub {
public:
    /// `cameras` are those that have a detector. Outputs are told of every event.
    EventHub(const EventOptions& options, std::span<const std::string> cameras,
             std::vector<std::unique_ptr<EventOutput>> outputs = {});
    ~EventHub();

    /// Where frames of that camera, which is one of those, are told; lives as long as the hub.
    SeenObjects& of(const std::string& camera);
    /// For whoever asks; from any thread.
    const EventFeeds& feeds() const;
    EventFigures figures() const;

    /// No frames come any more: tells what is left, which may take until then, and ends all feeds. Once.
    void end(Clock::time_point deadline);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
