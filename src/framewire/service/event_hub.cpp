#include "framewire/service/event_hub.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

namespace framewire::service {

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

    // Sends one event to all feeds and outputs. Called only on the hub's thread.
    void tell(const SharedEvent& event) {
        ++(event->type == Event::Type::motion ? motion : event->type == Event::Type::zone ? zones : objects);
        feeds.tell(event);
        for (const auto& output : outputs) output->tell(event);
    }

    // Loop of the hub's thread: makes events from queued frames, ends motion in time, and keeps idle connections alive.
    void run() {
        for (auto& [name, camera] : cameras) camera.events.begin();
        SeenFrames::Frame frame;
        auto quiet_since = Clock::now();
        for (bool ended = false; !ended;) {
            ended = wait(quiet_since + longest_silence);
            const auto reported_before = objects + motion + zones;
            for (auto& [name, camera] : cameras) {
                if (const auto changed = camera.frames.take_zones())
                    for (const auto& output : outputs) output->tell_zones(name, *changed);
                while (camera.frames.take(frame)) camera.events.take(frame);
                camera.events.pass(Clock::now(), ended);
            }
            const auto now = Clock::now();
            const bool is_quiet = objects + motion + zones == reported_before;
            if (is_quiet && now < quiet_since + longest_silence) continue;
            if (is_quiet) feeds.keep_alive();
            quiet_since = now;
        }
    }

    // Waits until a frame arrives, motion may have to end or keep-alives are due. Returns true if the hub is ending.
    bool wait(Clock::time_point latest) {
        for (const auto& [name, camera] : cameras) latest = std::min(latest, camera.events.due().value_or(latest));
        std::unique_lock lock(signal.mutex);
        signal.reported.wait_until(lock, latest, [this] { return signal.something || signal.ended; });
        signal.something = false;
        return signal.ended;
    }

    // Ends the thread after it has handled all queued frames.
    void stop() {
        {
            const std::lock_guard lock(signal.mutex);
            signal.ended = true;
        }
        signal.reported.notify_one();
        if (thread.joinable()) thread.join();
    }

    // Proxies typically close connections that are silent for about a minute.
    static constexpr std::chrono::seconds longest_silence{15};

    SeenSignal signal;
    EventFeeds feeds;
    std::vector<std::unique_ptr<EventOutput>> outputs;
    std::atomic<std::int64_t> objects = 0, motion = 0, zones = 0;
    std::map<std::string, Camera> cameras;
    std::jthread thread;
};

EventHub::EventHub(const EventOptions& options, std::span<const std::string> cameras,
                   std::vector<std::unique_ptr<EventOutput>> outputs)
    : state_(std::make_unique<State>(options, cameras, std::move(outputs))) {}

EventHub::~EventHub() = default;

SeenObjects& EventHub::of(const std::string& camera) {
    const auto found = state_->cameras.find(camera);
    if (found == state_->cameras.end()) fail(ErrorCode::internal, "camera '{}' has no events", camera);
    return found->second.frames;
}

const EventFeeds& EventHub::feeds() const { return state_->feeds; }

EventStatistics EventHub::figures() const {
    const std::lock_guard lock(state_->signal.mutex);
    return {state_->objects, state_->motion, state_->zones, state_->signal.left_out};
}

void EventHub::end(Clock::time_point deadline) {
    state_->stop();
    for (const auto& output : state_->outputs) output->end(deadline);
    state_->feeds.end();
}

// Returns at once for most frames of most cameras, because they have no objects.
void SeenFrames::seen(const SeenFrame& frame) noexcept {
    const bool has_objects = !frame.objects.empty(), has_news = has_objects || had_objects_;
    if (!has_news && frame.events.empty()) return;
    had_objects_ = has_objects;
    {
        const std::lock_guard lock(signal_.mutex);
        const bool replaces = count_ == room;
        if (replaces)
            ++signal_.left_out;
        else
            ++count_;
        auto& slot = frames_[(first_ + count_ - 1) % room];
        if (!replaces) slot.events.clear();
        slot.has_news = has_news || (replaces && slot.has_news);
        try {
            slot.objects.assign(frame.objects.begin(), frame.objects.end());
            slot.tracks.assign(frame.tracks.begin(), frame.tracks.end());
            const auto added = std::min(frame.events.size(), most_events - slot.events.size());
            slot.events.insert(slot.events.end(), frame.events.begin(),
                               frame.events.begin() + static_cast<std::ptrdiff_t>(added));
            if (added < frame.events.size()) ++signal_.left_out;
            // out of memory: report no objects
        } catch (...) {
            slot.objects.clear();
            slot.tracks.clear();
            ++signal_.left_out;
        }
        slot.time = frame.time;
        slot.shape = frame.shape;
        signal_.something = true;
    }
    signal_.reported.notify_one();
}

void SeenFrames::zones_changed(const ZoneSet& zones, std::span<const int> inside) noexcept {
    {
        const std::lock_guard lock(signal_.mutex);
        try {
            ZoneOccupancy now{zones, std::vector<bool>(inside.size())};
            for (std::size_t zone = 0; zone < inside.size(); ++zone) now.occupied[zone] = inside[zone] > 0;
            zones_ = std::move(now);
            // out of memory: the next change is reported
        } catch (...) {
            ++signal_.left_out;
        }
        signal_.something = true;
    }
    signal_.reported.notify_one();
}

std::optional<ZoneOccupancy> SeenFrames::take_zones() {
    const std::lock_guard lock(signal_.mutex);
    return std::exchange(zones_, std::nullopt);
}

bool SeenFrames::take(Frame& into) {
    const std::lock_guard lock(signal_.mutex);
    if (count_ == 0) return false;
    std::swap(into, frames_[first_]);
    first_ = (first_ + 1) % room;
    --count_;
    return true;
}

WatchedCamera::WatchedCamera(const std::string& name, const EventOptions& options, WallTime started, Tell tell)
    : name_(name), motion_(options.motion), ids_(name, started), tell_(std::move(tell)) {
    if (options.objects_rate)
        least_pause_ =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / *options.objects_rate));
}

void WatchedCamera::begin() { tell_motion(std::chrono::system_clock::now()); }

// The event carries the wall time of the capture: the present minus the age of the frame.
void WatchedCamera::take(const SeenFrames::Frame& frame) {
    const auto age = Clock::now() - frame.time.captured;
    const auto time = std::chrono::system_clock::now() - std::chrono::duration_cast<WallTime::duration>(age);
    frame_ = frame.time.index;
    if (motion_.seen(frame.time.captured, !frame.objects.empty())) tell_motion(time);
    for (const auto& event : frame.events)
        tell_(zone_event(name_, ids_.next(), time, {frame.time, frame.shape}, event));
    if (!frame.has_news) return;
    if (frame.objects.empty() || may_tell(frame.time.captured))
        tell_(objects_event(name_, ids_.next(), time, {frame.time, frame.shape, frame.objects, frame.tracks}));
}

// Frame times jitter, so a pause starts when the previous one ended, not when a late frame arrives.
bool WatchedCamera::may_tell(Clock::time_point captured) {
    if (!least_pause_) return true;
    if (captured < next_objects_) return false;
    const bool late = captured - next_objects_ >= *least_pause_;
    next_objects_ = (late ? captured : next_objects_) + *least_pause_;
    return true;
}

void WatchedCamera::pass(Clock::time_point now, bool ends) {
    if (motion_.end(now, ends)) tell_motion(std::chrono::system_clock::now());
}

void WatchedCamera::tell_motion(WallTime time) { tell_(motion_event(name_, ids_.next(), time, motion_.on(), frame_)); }

}  // namespace framewire::service
