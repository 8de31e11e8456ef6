#include "framewire/service/frigate.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/retry_pauses.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::service {
namespace {

using net::http::ClientRequest;
using net::http::ClientResponse;

constexpr std::size_t max_name_bytes = 64, max_id_bytes = 128, max_shown_bytes = 200;
// Frigate writes an event to its database some time after it has returned the id, and does not find it before.
constexpr int most_times_missing = 6;
// An end that is sent later than this carries its time. Earlier ones do not, because the clocks may differ.
constexpr std::chrono::seconds late_after{2};

bool is_letter_or_digit(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Returns true for an event's id such as 1763924400.123456-x7k2p9, which becomes a segment of a path.
bool is_event_id(std::string_view text) {
    return !text.empty() && text.size() <= max_id_bytes && text.front() != '.' &&
           std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

// Returns a member of a JSON object that is a text; otherwise an empty text.
std::string text_in(const std::string& json, const char* member) {
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    const auto found = parsed.is_object() ? parsed.find(member) : parsed.end();
    return parsed.is_object() && found != parsed.end() && found->is_string() ? found->get<std::string>()
                                                                             : std::string();
}

// Describes a response that is not a success, with Frigate's own message.
std::string in_words(const ClientResponse& response) {
    const auto message = printable(text_in(response.body, "message").substr(0, max_shown_bytes));
    return fmt::format("status {}{}{}", response.status, message.empty() ? "" : ": ", message);
}

bool is_success(int status) { return status >= 200 && status < 300; }

// Returns true if the same request may succeed later.
bool is_temporary(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

bool is_frigate_name(std::string_view text) {
    return !text.empty() && text.size() <= max_name_bytes &&
           std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; });
}

struct FrigateEvents::State {
    State(const FrigateOptions& what, std::span<const std::string> names)
        : options(what), dialer(net::http::dialer_to(options.server, stop.get_token())) {
        for (const auto& name : names) cameras.push_back({.name = name, .called = options.name_of(name)});
        thread = std::jthread([this] { run(); });
    }

    // Event that Frigate has created and not yet ended.
    struct Open {
        std::string id;
        // number of the camera's motion
        std::int64_t motion = 0;
        std::optional<WallTime> ended{};
        int times_missing = 0;
        bool without_time = false;
    };
    struct Camera {
        // here, and in Frigate
        std::string name, called;
        bool on = false;
        // number of the newest motion, from 1
        std::int64_t motion = 0;
        // true if Frigate refused the event of this motion
        bool refused = false;
        // true while a request creates an event for this motion, and when that motion ended meanwhile
        bool creating = false;
        std::optional<WallTime> ended_while_creating{};
        std::optional<Open> open{};

        bool has_end() const { return open && open->ended; }
        bool has_start() const { return on && !open && !refused; }
    };

    void run();
    Camera* next();
    bool is_over() const;
    std::string create(Camera& camera, std::unique_lock<std::mutex>& lock);
    std::string finish(Camera& camera, std::unique_lock<std::mutex>& lock);
    ClientResponse ask(const std::string& method, const std::string& path, const nlohmann::json& body) const;
    void refuse(const Camera& camera, const std::string& why);
    std::size_t waiting() const;

    const FrigateOptions options;
    std::stop_source stop{};
    std::unique_ptr<net::Dialer> dialer;

    // guards the members below
    mutable std::mutex mutex{};
    std::condition_variable changed{};
    std::vector<Camera> cameras{};
    // index of the camera whose turn is next
    std::size_t turn = 0;
    std::optional<Clock::time_point> deadline{};
    bool stopped = false, reached = false;
    FrigateStatistics counts{};
    // problems that were logged since the last success
    std::set<std::string> reported{};
    std::jthread thread;
};

// Returns true if the deadline was set, and either nothing waits or the deadline has passed.
bool FrigateEvents::State::is_over() const { return deadline && (waiting() == 0 || Clock::now() >= *deadline); }

std::size_t FrigateEvents::State::waiting() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cameras, [](const Camera& one) { return one.has_end() || one.has_start(); }));
}

// Returns the next camera, in turns, for which there is something to send; null if there is none.
FrigateEvents::State::Camera* FrigateEvents::State::next() {
    for (std::size_t i = 0; i < cameras.size(); ++i) {
        auto& camera = cameras[(turn + i) % cameras.size()];
        if (!camera.has_end() && !camera.has_start()) continue;
        turn = (turn + i + 1) % cameras.size();
        return &camera;
    }
    return nullptr;
}

// Sends one request after the other. Pauses double while Frigate is unreachable.
void FrigateEvents::State::run() {
    RetryPauses pauses;
    std::unique_lock lock(mutex);
    while (!is_over()) {
        auto* const camera = next();
        if (!camera) {
            changed.wait(lock, [this] { return deadline || waiting() > 0; });
            continue;
        }
        const auto problem = camera->has_end() ? finish(*camera, lock) : create(*camera, lock);
        if (problem.empty()) {
            pauses.reset();
            continue;
        }
        const bool expected = camera->open && camera->open->times_missing > 0;
        if (!expected && !stop.stop_requested() && reported.insert(problem).second)
            log_warning("motion cannot be sent to Frigate at {}: {}; trying again", to_string(options.server), problem);
        reached = false;
        const auto until = Clock::now() + pauses.take();
        changed.wait_until(lock, deadline ? std::min(*deadline, until) : until, [this] { return is_over(); });
    }
    if (const auto left = std::ranges::count_if(cameras, &Camera::has_end); left > 0)
        log_warning("{} ends of motion were not delivered to Frigate, which shows these events as in progress", left);
    stopped = true;
    changed.notify_all();
}

// Sends a request without the lock.
ClientResponse FrigateEvents::State::ask(const std::string& method, const std::string& path,
                                         const nlohmann::json& body) const {
    return exchange(*dialer, options.server, {method, path, json_text(body)}, Clock::now() + options.request_deadline);
}

// Logs why Frigate will never accept a request.
void FrigateEvents::State::refuse(const Camera& camera, const std::string& why) {
    ++counts.dropped;
    if (reported.insert(camera.name + why).second)
        log_warning("Frigate at {} refuses an event of camera '{}', there '{}': {}", to_string(options.server),
                    camera.name, camera.called, why);
}

// Creates an event without a duration, so that it lasts until finish(). Returns why Frigate could not be reached, or an
// empty text.
std::string FrigateEvents::State::create(Camera& camera, std::unique_lock<std::mutex>& lock) {
    const auto motion = camera.motion;
    camera.creating = true;
    camera.ended_while_creating.reset();
    lock.unlock();
    std::optional<ClientResponse> response;
    std::string problem;
    try {
        response =
            ask("POST", fmt::format("/api/events/{}/{}/create", camera.called, options.label),
                {{"source_type", "api"}, {"sub_label", nullptr}, {"duration", nullptr}, {"include_recording", true}});
    } catch (const net::Lost& lost) {
        problem = lost.why;
    } catch (const std::exception& error) {
        problem = error.what();
    }
    lock.lock();
    camera.creating = false;
    const auto ended = std::exchange(camera.ended_while_creating, std::nullopt);
    if (response && is_temporary(response->status)) problem = in_words(*response);
    if (!problem.empty()) {
        if (ended) ++counts.dropped;
        return problem;
    }
    const auto id = is_success(response->status) ? text_in(response->body, "event_id") : std::string();
    if (!is_event_id(id)) {
        refuse(camera, is_success(response->status) ? "its response has no valid event_id" : in_words(*response));
        if (camera.motion == motion) camera.refused = true;
        return {};
    }
    camera.open = Open{.id = id, .motion = motion, .ended = ended};
    ++counts.created;
    if (!std::exchange(reached, true)) log_info("motion is sent to Frigate at {}", to_string(options.server));
    reported.clear();
    return {};
}

// Ends the camera's open event. Returns why Frigate could not be reached or does not know the event yet, or an empty
// text.
std::string FrigateEvents::State::finish(Camera& camera, std::unique_lock<std::mutex>& lock) {
    const auto open = *camera.open;
    const bool late = std::chrono::system_clock::now() - *open.ended > late_after;
    auto body = nlohmann::json::object();
    if (late && !open.without_time)
        body["end_time"] = std::chrono::duration<double>(open.ended->time_since_epoch()).count();
    lock.unlock();
    std::optional<ClientResponse> response;
    std::string problem;
    try {
        response = ask("PUT", fmt::format("/api/events/{}/end", open.id), body);
    } catch (const net::Lost& lost) {
        problem = lost.why;
    } catch (const std::exception& error) {
        problem = error.what();
    }
    lock.lock();
    if (!problem.empty()) return problem;
    const int status = response->status;
    constexpr int bad_request = 400, not_found = 404;
    if (is_temporary(status)) return in_words(*response);
    if (status == not_found && ++camera.open->times_missing < most_times_missing) return in_words(*response);
    if (status == bad_request && body.contains("end_time")) {
        // By Frigate's clock, the event would have ended before it started.
        camera.open->without_time = true;
        return {};
    }
    if (is_success(status))
        ++counts.ended;
    else
        refuse(camera, "its end: " + in_words(*response));
    camera.open.reset();
    return {};
}

FrigateEvents::FrigateEvents(const FrigateOptions& options, std::span<const std::string> cameras)
    : state_(std::make_unique<State>(options, cameras)) {}

FrigateEvents::~FrigateEvents() { end(Clock::now()); }

void FrigateEvents::tell(const SharedEvent& event) {
    if (event->type != Event::Type::motion) return;
    {
        const std::lock_guard lock(state_->mutex);
        const auto found = std::ranges::find(state_->cameras, event->camera, &State::Camera::name);
        if (found == state_->cameras.end() || found->on == event->on) return;
        auto& camera = *found;
        camera.on = event->on;
        if (camera.on) {
            ++camera.motion;
            camera.refused = false;
        } else {
            const auto now = std::chrono::system_clock::now();
            if (camera.open && camera.open->motion == camera.motion)
                camera.open->ended = now;
            else if (camera.creating && !camera.ended_while_creating)
                camera.ended_while_creating = now;
            else if (!camera.refused)
                ++state_->counts.dropped;
        }
    }
    state_->changed.notify_all();
}

// At the deadline the request in progress is cancelled.
void FrigateEvents::end(Clock::time_point deadline) {
    {
        std::unique_lock lock(state_->mutex);
        if (!state_->deadline) state_->deadline = deadline;
        state_->changed.notify_all();
        state_->changed.wait_until(lock, deadline, [this] { return state_->stopped; });
    }
    state_->stop.request_stop();
    if (state_->thread.joinable()) state_->thread.join();
}

FrigateStatistics FrigateEvents::figures() const {
    const std::lock_guard lock(state_->mutex);
    auto figures = state_->counts;
    figures.waiting = state_->waiting();
    return figures;
}

}  // namespace framewire::service
