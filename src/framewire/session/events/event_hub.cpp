#include "framewire/session/events/event_hub.hpp"

#include "framewire/core/error.hpp"
#include "framewire/session/events/watched_camera.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

namespace framewire::session {

struct EventHub::State {
    State(const EventOptions& options, std::span<const std::string> names, std::vector<std::unique_ptr<EventOutput>> to)
        : feeds(names), outputs(std::move(to)) {
        const auto started = std::chrono::system_clock::now();
        for (const auto& name : names)
            cameras.try_emplace(name, signal, name, options, started, [this](SharedEvent event) { tell(event); });
        thread = std::jthread([this] { run(); });
    }

    ~State() { stop(); }

    // Queue and event logic of one camera.
    struct Camera {
        Camera(SeenSignal& seen, const std::string& name, const EventOptions& options, WallTime started,
               WatchedCamera::Tell tell)
            : frames(seen), events(name, options, started, std::move(tell)) {}
        SeenFrames frames;
        WatchedCamera events;
    };

    // Sends one event everywhere. On the hub's thread only.
    void tell(const SharedEvent& event) {
        ++(event->type == Event::Type::motion ? motion : objects);
        feeds.tell(event);
        for (const auto& output : outputs) output->tell(event);
    }

    // Loop of the hub's thread: makes events of queued frames, ends motion in time, and keeps idle connections alive.
    void run() {
        for (auto& [name, camera] : cameras) camera.events.begin();
        SeenFrames::Frame frame;
        auto quiet_since = Clock::now();
        for (bool ended = false; !ended;) {
            ended = wait(quiet_since + longest_silence);
            const auto told_before = objects + motion;
            for (auto& [name, camera] : cameras) {
                while (camera.frames.take(frame)) camera.events.take(frame);
                camera.events.pass(Clock::now(), ended);
            }
            const auto now = Clock::now();
            if (objects + motion == told_before && now < quiet_since + longest_silence) continue;
            if (objects + motion == told_before) feeds.keep_alive();
            quiet_since = now;
        }
    }

    // Waits until a frame arrives, motion ends or the connections need a sign of life. Returns true at the end.
    bool wait(Clock::time_point latest) {
        for (const auto& [name, camera] : cameras) latest = std::min(latest, camera.events.due().value_or(latest));
        std::unique_lock lock(signal.mutex);
        signal.told.wait_until(lock, latest, [this] { return signal.something || signal.ended; });
        signal.something = false;
        return signal.ended;
    }

    // Ends the thread after it has handled all queued frames.
    void stop() {
        {
            const std::lock_guard lock(signal.mutex);
            signal.ended = true;
        }
        signal.told.notify_one();
        if (thread.joinable()) thread.join();
    }

    // Proxies typically close connections that are silent for about a minute.
    static constexpr std::chrono::seconds longest_silence{15};

    SeenSignal signal;
    EventFeeds feeds;
    std::vector<std::unique_ptr<EventOutput>> outputs;
    std::atomic<std::int64_t> objects = 0, motion = 0;
    std::map<std::string, Camera> cameras;
    std::jthread thread;
};

EventHub::EventHub(const EventOptions& options, std::span<const std::string> cameras,
                   std::vector<std::unique_ptr<EventOutput>> outputs)
    : state_(std::make_unique<State>(options, cameras, std::move(outputs))) {}

EventHub::~EventHub() = default;

SeenObjects& EventHub::of(const std::string& camera) {
    const auto found = state_->cameras.find(camera);
    if (found == state_->cameras.end()) fail(ErrorCode::internal, "no events are made of camera '{}'", camera);
    return found->second.frames;
}

const EventFeeds& EventHub::feeds() const { return state_->feeds; }

EventFigures EventHub::figures() const {
    const std::lock_guard lock(state_->signal.mutex);
    return {state_->objects, state_->motion, state_->signal.left_out};
}

void EventHub::end(Clock::time_point deadline) {
    state_->stop();
    for (const auto& output : state_->outputs) output->end(deadline);
    state_->feeds.end();
}

}  // namespace framewire::session
