#pragma once

#include "framewire/service/events.hpp"
#include "framewire/service/mqtt.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::service {

/// Counters of an EventHub.
struct EventStatistics {
    /// Events sent, by type.
    std::int64_t objects = 0, motion = 0, zone = 0;
    /// Frames skipped because they arrived faster than the hub could process them.
    std::int64_t left_out = 0;
};

/// Turns the objects that cameras detect into events, and sends these to all outputs and HTTP clients. The cameras'
/// sending threads only queue frames; a thread of the hub makes the events.
///
/// Each camera starts with motion OFF, then switches ON and OFF by MotionRules, and ends with OFF. In addition, each
/// frame with objects causes an objects event, limited to EventOptions::objects_rate. The first frame without objects
/// after such frames always causes one. Each event in a zone causes a zone event, before the frame's objects event.
class EventHub {
public:
    /// `cameras` are the names of the cameras with a detector. Every event goes to each of `outputs`. Starts the
    /// thread.
    EventHub(const EventOptions& options, std::span<const std::string> cameras,
             std::vector<std::unique_ptr<EventOutput>> outputs = {});
    ~EventHub();

    /// Returns the receiver for the frames of a camera, which must be one of those given to the constructor. The
    /// reference is valid as long as the hub exists.
    SeenObjects& of(const std::string& camera);
    /// Returns the feeds for HTTP clients. May be called from any thread.
    const EventFeeds& feeds() const;
    /// Returns the counters so far. May be called from any thread.
    EventStatistics figures() const;

    /// Sends the remaining events, waiting for outputs until `deadline` at most, and ends all feeds. Call it once,
    /// after the last frame.
    void end(Clock::time_point deadline);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// State shared by all SeenFrames and the thread that makes events. `mutex` guards all members and the queues.
struct SeenSignal {
    std::mutex mutex{};
    /// Notified when a frame is queued or the end is requested.
    std::condition_variable reported{};
    /// `something`: a frame was queued since the thread last looked. `ended`: no more frames will arrive.
    bool something = false, ended = false;
    /// Frames skipped because a queue was full or memory was short.
    std::int64_t left_out = 0;
};

/// Queue of one camera's frames, from the sending thread to the thread that makes events. It holds 32 frames; if it is
/// full, the newest frame replaces the one before it, so that the latest state is always reported; its events in zones
/// are added to those of that frame, up to 4096.
class SeenFrames final : public SeenObjects {
public:
    /// Copy of a SeenFrame.
    struct Frame {
        FrameTime time{};
        Shape shape{};
        std::vector<Component> objects{};
        std::vector<Track> tracks{};
        std::vector<ZoneEvent> events{};
        // true if the objects are to be reported, even if there are none
        bool has_news = false;
    };

    /// `signal` must outlive the queue.
    explicit SeenFrames(SeenSignal& signal) : signal_(signal) {}
    /// Queues a frame. Frames without objects and events are skipped, except the first one after a frame with objects.
    void seen(const SeenFrame& frame) noexcept override;
    /// Keeps a copy of the zones for take_zones(), instead of earlier ones.
    void zones_changed(const ZoneSet& zones, std::span<const int> inside) noexcept override;
    /// Returns the newest zones, or nullopt if they have not changed since the last call.
    std::optional<ZoneOccupancy> take_zones();
    /// Moves the next frame into `into`, whose memory is reused for a later one. Returns false if the queue is empty.
    bool take(Frame& into);

private:
    static constexpr std::size_t room = 32, most_events = 4096;

    SeenSignal& signal_;
    // used by the sending thread only
    bool had_objects_ = false;
    std::array<Frame, room> frames_{};
    // ring buffer: index of the oldest frame, and number of frames
    std::size_t first_ = 0, count_ = 0;
    // zones that were not taken yet
    std::optional<ZoneOccupancy> zones_{};
};

/// Makes the events of one camera. Use it from one thread.
class WatchedCamera {
public:
    /// Sends one event.
    using Tell = std::function<void(SharedEvent event)>;
    /// `started` is when the server started, which becomes part of the event ids.
    WatchedCamera(const std::string& name, const EventOptions& options, WallTime started, Tell tell);

    /// Sends the initial event: motion is OFF. Call it once, before the other functions.
    void begin();
    /// Makes the events of one frame.
    void take(const SeenFrames::Frame& frame);
    /// Returns when pass() has something to do, or nullopt if that is not before the next frame.
    std::optional<Clock::time_point> due() const { return motion_.ends(); }
    /// Switches motion OFF if its hold time has passed, or in any case if `ends` is true.
    void pass(Clock::time_point now, bool ends);

private:
    // Returns true if EventOptions::objects_rate allows an objects event now.
    bool may_tell(Clock::time_point captured);
    void tell_motion(WallTime time);

    std::string name_;
    MotionState motion_;
    // minimum time between two objects events
    std::optional<Clock::duration> least_pause_{};
    Clock::time_point next_objects_{};
    EventIds ids_;
    Tell tell_;
    // number of the newest frame
    std::int64_t frame_ = 0;
};

}  // namespace framewire::service
