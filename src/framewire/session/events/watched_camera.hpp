#pragma once

#include "framewire/session/events/event.hpp"
#include "framewire/session/events/event_options.hpp"
#include "framewire/session/events/seen_objects.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// What cameras share with the thread that makes events of what they see.
struct SeenSignal {
    std::mutex mutex{};
    std::condition_variable told{};
    bool something = false, ended = false;
    std::int64_t left_out = 0;  ///< frames
};

/// Frames of one camera, from the thread that sends them to the one that makes events of them. There is room for some;
/// of more only the newest is kept, so what holds last is always told.
class SeenFrames final : public SeenObjects {
public:
    struct Frame {
        FrameTime time{};
        Shape shape{};
        std::vector<Component> objects{};
    };

    explicit SeenFrames(SeenSignal& signal) : signal_(signal) {}
    void seen(const SeenFrame& frame) noexcept override;
    /// The next one, into what is to be used again; false where there is none.
    bool take(Frame& into);

private:
    static constexpr std::size_t room = 32;

    SeenSignal& signal_;
    bool had_objects_ = false;  // of the sending thread
    std::array<Frame, room> frames_{};
    std::size_t first_ = 0, count_ = 0;
};

/// Makes events of what one camera sees. For one thread.
class WatchedCamera {
public:
    using Tell = std::function<void(SharedEvent event)>;
    WatchedCamera(const std::string& name, const EventOptions& options, WallTime started, Tell tell);

    /// To be called once, first: nothing moves yet.
    void begin();
    void take(const SeenFrames::Frame& frame);
    /// When pass() has something to do; none: not before a frame comes.
    std::optional<Clock::time_point> due() const { return motion_.ends(); }
    /// Motion that is over, or all of it where `ends`.
    void pass(Clock::time_point now, bool ends);

private:
    bool may_tell(Clock::time_point captured);
    void tell_motion(WallTime time);

    std::string name_;
    MotionState motion_;
    std::optional<Clock::duration> least_pause_{};  // between two events of objects
    Clock::time_point next_objects_{};
    EventIds ids_;
    Tell tell_;
    std::int64_t frame_ = 0;  // the newest one
};

}  // namespace framewire::session
