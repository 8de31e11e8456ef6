#include "framewire/jobs/show.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/job.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

namespace framewire::jobs {

template <class Change>
void Playback::change(Change&& apply) {
    {
        const std::lock_guard lock(mutex_);
        apply();
    }
    changed_.notify_all();
}

void Playback::set_paused(bool paused) {
    change([&] {
        state_.paused = paused;
        steps_ = 0;
        // restarts the timing, so that playback does not catch up after the pause
        pacer_ = {};
    });
}

void Playback::step() {
    change([&] {
        if (!std::exchange(state_.paused, true)) steps_ = 0;
        ++steps_;
        pacer_ = {};
    });
}

void Playback::seek(double seconds) {
    change([&] {
        seek_seconds_ = std::max(seconds, 0.0);
        ++pass_;
        steps_ = 0;
        pacer_ = {};
    });
}

void Playback::set_speed(double speed) {
    change([&] {
        state_.speed = std::clamp(speed, least_playback_speed, most_playback_speed);
        pacer_ = {};
    });
}

void Playback::close() {
    change([&] { closed_ = true; });
}

PlaybackState Playback::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

double Playback::position_seconds() const {
    const std::lock_guard lock(mutex_);
    return seek_seconds_.value_or(state_.time.seconds);
}

std::optional<Playback::Seek> Playback::take_seek() {
    const std::lock_guard lock(mutex_);
    if (!seek_seconds_) return std::nullopt;
    state_.ended = false;
    state_.lost.clear();
    // Until a frame of this pass is shown, relative seeks start from the target of this seek.
    state_.time.seconds = *seek_seconds_;
    return Seek{*std::exchange(seek_seconds_, std::nullopt), pass_};
}

bool Playback::wait_for_seek(std::string lost) {
    std::unique_lock lock(mutex_);
    state_.ended = lost.empty();
    state_.lost = std::move(lost);
    changed_.wait(lock, [&] { return closed_ || seek_seconds_; });
    return !closed_;
}

bool Playback::wait_for_turn(int pass, const FrameTime& time) {
    std::unique_lock lock(mutex_);
    std::optional<Clock::time_point> due;
    for (;;) {
        if (closed_ || pass != pass_) return false;
        // the target of a seek is shown even while paused
        if (shown_pass_ != pass_) break;
        if (state_.paused) {
            if (steps_ > 0) {
                --steps_;
                break;
            }
            // the frame is due at once when playback continues
            due = Clock::time_point::min();
            changed_.wait(lock);
            continue;
        }
        if (live_) break;
        if (!due) due = pacer_.due(time.seconds / state_.speed, Clock::now());
        if (Clock::now() >= *due) break;
        changed_.wait_until(lock, *due);
    }
    shown_pass_ = pass_;
    state_.shows = true;
    state_.time = time;
    state_.shown_at = Clock::now();
    return true;
}

namespace {

// Per-frame results of this job, which has none besides the frame itself.
struct NothingBeside {
    void wait() const {}
};

}  // namespace

struct ShowJob::State {
    explicit State(const ShowOptions& options)
        : on_frame(options.on_frame),
          job(options.job, options.input, files_of(options)),
          on_stop(job.stop(), [this] { playback().close(); }) {
        playback().set_paused(options.paused);
        playback().set_speed(options.speed);
    }

    Playback& playback() { return job.input().playback(); }

    void run() {
        job.run<NothingBeside>(
            {.wanted = {.on_host = true, .captured = true},
             .make = [] { return NothingBeside(); },
             .send = [this](InputFrame& frame, const FrameTime& time, NothingBeside&) { send(frame, time); },
             .finish = [](FirstFailure&, Ending) {}},
            result);
    }

    // Waits until the frame is due, then shows it. Frames of earlier passes are dropped.
    void send(InputFrame& frame, const FrameTime& time) {
        if (!playback().wait_for_turn(frame.pass, time)) return;
        if (on_frame) on_frame({std::as_const(frame.captured).host(), std::as_const(frame.result()).host(), time});
    }

    bool seek(double seconds) {
        const auto& source = job.input().info();
        if (source.live) return false;
        // Seek to the last frame rather than beyond it.
        if (source.frames) seconds = std::min(seconds, (static_cast<double>(*source.frames) - 1) / source.rate.value());
        playback().seek(seconds);
        return true;
    }

    std::function<void(const ShownFrame&)> on_frame;
    FrameJob<ShowInput> job;
    JobResult result;
    // last member: destroyed before the members that it uses
    std::stop_callback<std::function<void()>> on_stop;
};

JobFiles files_of(const ShowOptions& options) {
    return JobFiles().source(options.input.source).statistics(options.job.statistics_path);
}

ShowJob::ShowJob(const ShowOptions& options) : state_(std::make_unique<State>(options)) {}
ShowJob::~ShowJob() = default;

const SourceInfo& ShowJob::source() const { return state_->job.input().info(); }
Backend ShowJob::backend() const { return state_->job.input().backend(); }
const Shape& ShowJob::shape() const { return state_->job.input().shape(); }

const JobResult& ShowJob::run() { return state_->run(), state_->result; }
const JobResult& ShowJob::result() const { return state_->result; }
const Statistics& ShowJob::statistics() const { return state_->job.statistics(); }

PlaybackState ShowJob::state() const { return state_->playback().state(); }
void ShowJob::set_paused(bool paused) { state_->playback().set_paused(paused); }
void ShowJob::set_speed(double speed) { state_->playback().set_speed(speed); }
void ShowJob::step() { state_->playback().step(); }

void ShowJob::step_back() {
    // Seek to a time between the wanted frame and its predecessor, because frame times are rounded. A pending seek
    // already targets such a time.
    const double frame_s = 1 / source().rate.value();
    const double number = std::ceil(state_->playback().position_seconds() / frame_s - 0.25);
    set_paused(true);
    seek((number - 1.5) * frame_s);
}

bool ShowJob::seek(double seconds) { return state_->seek(seconds); }
bool ShowJob::seek_by(double seconds) { return seek(state_->playback().position_seconds() + seconds); }
service::Controls ShowJob::controls() const { return state_->job.input().controls(); }

void ShowJob::control(const service::ControlRequest& request) {
    // While paused, seeking back by half a frame shows the current frame again.
    state_->job.input().control(request);
    if (state().paused) seek(state_->playback().position_seconds() - 0.5 / source().rate.value());
}

bool ShowInput::capture(InputFrame& frame, FrameTime& time) {
    for (;;) {
        std::string lost;
        try {
            if (const auto seek = playback_.take_seek()) {
                lost_ = nullptr;
                FilteredInput::seek(seek->seconds);
                reading_pass_ = seek->pass;
            }
            frame.pass = reading_pass_;
            if (!lost_ && FilteredInput::capture(frame, time)) return true;
        } catch (const Error& error) {
            lost_ = std::current_exception();
            lost = error.what();
        }
        if (!playback_.wait_for_seek(lost)) break;
    }
    if (lost_) std::rethrow_exception(lost_);
    return false;
}

void ShowInput::filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted) {
    if (frame.pass != filtered_pass_) begin_again();
    filtered_pass_ = frame.pass;
    FilteredInput::filter(frame, time, statistics, wanted);
    if (frame.captured.filled_on_gpu() && &frame.result() != &frame.captured)
        // the captured frame is displayed too
        frame.captured.download();
}

}  // namespace framewire::jobs
