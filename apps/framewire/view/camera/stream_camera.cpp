// A stream in the window. If there is one stream, connect() makes the job before the window opens, and errors end the
// program. If there are several, each camera retries on its own thread, so that a missing server does not affect the
// others.

#include "view/camera/stream_camera.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/retry_pauses.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <utility>

namespace framewire::app {
namespace {

constexpr std::chrono::milliseconds first_retry_pause{250}, longest_retry_pause{4000};

// Waits until the pause is over or a stop is requested.
void rest(std::chrono::milliseconds pause, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, pause, [] { return false; });
}

}  // namespace

StreamCamera::StreamCamera(jobs::ReceiveOptions options) : options_(std::move(options)) {
    options_.on_picture = [this](HostView<const std::uint8_t> picture) {
        put_seen(picture);
        note({});
        tell_changed();
    };
}

// Each retry replaces the job, so callers get shared ownership.
std::shared_ptr<jobs::ReceiveJob> StreamCamera::job() const {
    const std::lock_guard lock(mutex_);
    return job_;
}

void StreamCamera::set_job(std::shared_ptr<jobs::ReceiveJob> job) {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
}

// Stores the reason why there is no stream; empty if there is one.
void StreamCamera::note(std::string missing) {
    const std::lock_guard lock(mutex_);
    missing_ = std::move(missing);
}

const jobs::ReceiveJob& StreamCamera::connect() {
    auto made = std::make_shared<jobs::ReceiveJob>(options_);
    set_job(made);
    return *made;
}

// Runs the connected job, or retries with growing pauses until a stop request.
void StreamCamera::run() {
    if (const auto connected = job()) {
        connected->run();
        return;
    }
    RetryPauses pauses(first_retry_pause, longest_retry_pause);
    while (!options_.job.stop.stop_requested()) {
        const auto begun = Clock::now();
        if (try_once()) return;
        if (Clock::now() - begun > longest_retry_pause) pauses.reset();  // the stream was connected for a while
        rest(pauses.take(), options_.job.stop);
    }
}

// Runs one connection to its end. Returns false if a retry may succeed.
bool StreamCamera::try_once() {
    try {
        auto made = std::make_shared<jobs::ReceiveJob>(options_);
        set_job(made);
        made->run();
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_input && error.code() != ErrorCode::source_lost) throw;
        log_debug("{}: {}; reconnecting", name(), error.what());
        note(error.what());
    }
    tell_changed();
    return false;
}

// Returns the stream's name from the URL or, if the URL has none, the source's name or the URL itself.
std::string StreamCamera::name() const {
    const auto at = job();
    const auto source = at ? at->state().stream.source : std::string();
    const auto behind_host = options_.url.find('/', options_.url.find("//") + 2);
    if (behind_host == options_.url.npos || behind_host + 1 == options_.url.size())
        return source.empty() ? options_.url : source;
    return options_.url.substr(behind_host + 1);
}

Rational StreamCamera::rate() const {
    const auto at = job();
    return at ? at->state().stream.rate : Rational{30, 1};
}

// Checks for problems in this order: ended, never connected, or lost.
std::string StreamCamera::trouble() const {
    if (over()) return failure_text().empty() ? "ended" : "ended: " + failure_text();
    std::string missing;
    {
        const std::lock_guard lock(mutex_);
        missing = missing_;
    }
    if (!missing.empty()) return "no signal, reconnecting: " + missing;
    if (const auto at = job())
        if (const auto lost = at->state().lost; !lost.empty()) return "no signal, reconnecting: " + lost;
    return {};  // the stream of a static scene may send nothing
}

// `raw` is the bandwidth that uncompressed frames would need at the stream's rate.
std::vector<Figure> StreamCamera::figures() {
    const auto at = job();
    if (!at) return {{"stream", options_.url}};
    const auto now = at->state();
    const auto& stream = now.stream;
    const auto& received = now.counts.received;
    const double fps = frames_(static_cast<double>(now.frames));
    const double mbit = 8e-6 * bytes_(static_cast<double>(now.counts.bytes));
    const double raw_mbit = 8e-6 * stream.rate.value() * static_cast<double>(stream.shape.frame_bytes());
    return {
        {"picture", fmt::format("{}, {}", to_string(stream.shape), to_string(stream.mode))},
        {"frames", fmt::format("{:.1f} of {:.4g} fps", fps, stream.rate.value()), fps},
        {"latency", now.latency_ms ? fmt::format("{:.0f} ms", *now.latency_ms) : "-", now.latency_ms},
        {"bandwidth", fmt::format("{:.2f} Mbit/s of {:.0f} raw", mbit, raw_mbit), mbit},
        {"changed", fmt::format("{:.2f} %", 100 * now.changed), 100 * now.changed},
        {"threshold", stream.mode == codec::Mode::lossless ? "lossless" : fmt::format("within {}", now.threshold)},
        {"skipped", fmt::format("{} versions", received.skipped)},
        {"reconnected", fmt::format("{} times", now.counts.reconnections)},
    };
}

std::optional<service::Controls> StreamCamera::controls() const {
    const auto at = job();
    return at ? at->controls() : std::nullopt;
}

void StreamCamera::control(const service::ControlRequest& request) {
    if (const auto at = job()) at->control(request);
}

}  // namespace framewire::app
