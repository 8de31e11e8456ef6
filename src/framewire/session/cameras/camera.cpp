// The life of a served camera: open, run a job, and make the next job if the size changed or requests need a restart.
#include "framewire/session/cameras/camera.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/time/clock.hpp"
#include "framewire/media/fwd/settings.hpp"
#include "framewire/media/sources/source_registry.hpp"
#include "framewire/session/input/opened_source.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>

namespace framewire::session {
namespace {

// Waits for `pause`. Returns false if a stop was requested.
bool wait(const std::stop_token& stop, std::chrono::milliseconds pause) {
    std::mutex mutex;
    std::condition_variable_any stopping;
    std::unique_lock lock(mutex);
    return !stopping.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
}

// Returns true if the source was unavailable, so that trying again can help.
bool is_away(const Error& error) {
    return error.code() == ErrorCode::no_input || error.code() == ErrorCode::source_lost;
}

}  // namespace

std::string recording_part(const std::string& text, int number) {
    const auto path = fwd::parse_record(text).path;
    std::filesystem::path part(path);
    part.replace_filename(fmt::format("{}-{}{}", part.stem().string(), number, part.extension().string()));
    return part.string() + text.substr(std::min(path.size(), text.size()));
}

Camera::Camera(const BroadcastOptions& options, net::Listener& listener, const LiveOptions& live, LiveSettings ordered)
    : options_(options),
      record_(options.record),
      live_(std::make_shared<ServedCamera>(options, live, std::move(ordered), statistics_)) {
    options_.listener = &listener;
    options_.input.follows_size = true;
    options_.job.statistics = statistics_;
    options_.job.statistics_path.clear();
    options_.keep_orders = [live = live_.get()] { live->keep(); };
}

Camera::~Camera() { live_->detach(); }

bool Camera::relays() const { return relayed_stream(options_.input.source).has_value(); }

void Camera::make_job() {
    if (relays()) {
        relay_ = std::make_unique<RelayJob>(options_);
        live_->attach(*relay_);
    } else {
        job_ = job_as_ordered();
        live_->attach(*job_);
    }
    // only for the first job
    options_.wait_for_viewers = 0;
}

// Ordered or persisted settings may not fit, for example after a change of the frame size; then they are dropped.
std::unique_ptr<BroadcastJob> Camera::job_as_ordered() {
    for (;;) {
        try {
            return std::make_unique<BroadcastJob>(live_->options(options_));
        } catch (const Error& error) {
            const bool is_ours = error.code() == ErrorCode::usage || error.code() == ErrorCode::config;
            const std::string why = error.what();
            if (!is_ours || !live_->give_up_orders(why.substr(0, why.find('\n')))) throw;
        }
    }
}

void Camera::tell_address() const {
    if (job_) log_info("serving {} at {}", job_->source().name, to_string(job_->address()));
    if (relay_) log_info("forwarding {} at {}", relay_->source(), to_string(relay_->address()));
}

void Camera::open(bool may_come_later) {
    try {
        make_job();
    } catch (const Error& error) {
        const bool may_be_away = relays() || parse_source(options_.input.source).kind->may_be_away;
        if (!may_come_later || !is_away(error) || !may_be_away) throw;
        log_warning("{}: {}; trying again", name(), error.what());
    }
}

// Retries until the camera is open. Returns false if a stop was requested. Throws the last error when the time for
// retries is over.
bool Camera::open_with_patience() {
    const auto begin = Clock::now();
    const auto patience = options_.input.reconnect.value_or(SourceOptions::for_ever);
    for (auto pause = first_retry_pause; wait(options_.job.stop, pause);
         pause = std::min(2 * pause, longest_retry_pause)) {
        try {
            make_job();
            tell_address();
            return true;
        } catch (const Error& error) {
            if (options_.job.stop.stop_requested()) return false;
            const bool goes_on = patience == SourceOptions::for_ever || Clock::now() - begin < patience;
            if (!is_away(error) || !goes_on) throw;
            log_debug("{}: {}", name(), error.what());
        }
    }
    return false;
}

void Camera::run() {
    // Ends the wait of pending control requests on every path.
    const std::shared_ptr<void> at_end(nullptr, [this](void*) { live_->end(); });
    if (!job_ && !relay_ && !open_with_patience()) return;
    if (relay_) return run_relay();
    do {
        run_job(*job_);
        note_recording_failure(result_.recording_failure);
    } while (go_on());
    if (recording_failure_) std::rethrow_exception(recording_failure_);
}

void Camera::note_recording_failure(const std::exception_ptr& failure) {
    if (!recording_failure_) recording_failure_ = failure;
}

// Runs a job and adds its result to those of earlier jobs, even if it throws.
template <class Job>
void Camera::run_job(Job& job) {
    const auto viewers_before = result_.viewers;
    const auto take = [&] {
        result_ = job.result();
        add(result_.viewers, viewers_before);
    };
    try {
        job.run();
    } catch (...) {
        take();
        throw;
    }
    take();
}

// Runs the relay, and connects again if the stream was lost for good or came back with other properties.
void Camera::run_relay() {
    for (;;) {
        try {
            return run_job(*relay_);
        } catch (const Error& error) {
            const bool goes_on = options_.input.reconnect.value_or(SourceOptions::for_ever).count() > 0;
            if (!is_away(error) || !goes_on || options_.job.stop.stop_requested()) throw;
            log_warning("{}: {}; trying again", name(), error.what());
        }
        live_->detach();
        // frees the stream's name
        relay_.reset();
        if (!open_with_patience()) return;
    }
}

// Makes the next job if the last one ended for a new size or for requests. Returns false if the camera has ended.
bool Camera::go_on() {
    if (!result_.ended_at_new_size && !result_.ended_for_orders) return false;
    options_.input.opened = job_->opened();
    const auto before = job_->source().shape;
    live_->detach();
    // frees the stream's name
    job_.reset();
    auto& source = options_.input.opened->source();
    if (result_.ended_at_new_size) {
        if (!source.take_new_size()) fail(ErrorCode::internal, "{} has no new size", name());
        log_warning("{}: its pictures change from {} to {}; viewers come back to a stream of the new size",
                    source.info().name, to_string(before), to_string(source.info().shape));
    } else {
        log_info("{}: viewers come back to a stream as it was ordered", name());
    }
    if (options_.job.frames) *options_.job.frames -= result_.figures.frames - counted_frames_;
    if (options_.job.frames == 0) return false;
    counted_frames_ = result_.figures.frames;
    if (!record_.empty()) {
        do options_.record = recording_part(record_, ++recordings_);
        while (std::filesystem::exists(fwd::parse_record(options_.record).path));
        log_info("{}: recorded on in {}", name(), options_.record);
    }
    make_next_job();
    return true;
}

// A recording file that cannot be written ends the recording, not the camera.
void Camera::make_next_job() {
    try {
        return make_job();
    } catch (const Error& error) {
        if (options_.record.empty() || error.code() != ErrorCode::io) throw;
        note_recording_failure(std::current_exception());
        log_error("{}; the stream goes on without being recorded", error.what());
    }
    options_.record.clear();
    make_job();
}

}  // namespace framewire::session
