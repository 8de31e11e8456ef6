#include "framewire/session/show/show.hpp"

#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/show/show_input.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stop_token>
#include <utility>

namespace framewire::session {
namespace {

// Per-frame results of this job: there are none besides the frame itself.
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
            {.wanted = {.on_host = true},
             .make = [] { return NothingBeside(); },
             .send = [this](InputFrame& frame, const FrameTime& time, NothingBeside&) { send(frame, time); },
             .finish = [](FirstFailure&, Ending) {}},
            result);
    }

    // Waits until the frame is due and shows it. Frames of earlier passes are dropped.
    void send(InputFrame& frame, const FrameTime& time) {
        if (!playback().wait_for_turn(frame.pass, time)) return;
        if (on_frame) on_frame({std::as_const(frame.captured).host(), std::as_const(frame.result()).host(), time});
    }

    bool seek(double seconds) {
        const auto& source = job.input().info();
        if (source.live) return false;
        // Seek to the last frame rather than behind it.
        if (source.frames) seconds = std::min(seconds, (static_cast<double>(*source.frames) - 1) / source.rate.value());
        playback().seek(seconds);
        return true;
    }

    std::function<void(const ShownFrame&)> on_frame;
    FrameJob<ShowInput> job;
    JobResult result;
    // last member: destroyed before the members it uses
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
    // Seek to a time between the wanted frame and the one before it. Frame times are rounded, and a pending seek
    // already targets a time between two frames.
    const double frame_s = 1 / source().rate.value();
    const double number = std::ceil(state_->playback().position_seconds() / frame_s - 0.25);
    set_paused(true);
    seek((number - 1.5) * frame_s);
}

bool ShowJob::seek(double seconds) { return state_->seek(seconds); }
bool ShowJob::seek_by(double seconds) { return seek(state_->playback().position_seconds() + seconds); }
Controls ShowJob::controls() const { return state_->job.input().controls(); }

void ShowJob::control(const ControlOrder& order) {
    // During a pause, seeking back by half a frame shows the current frame again.
    state_->job.input().control(order);
    if (state().paused) seek(state_->playback().position_seconds() - 0.5 / source().rate.value());
}

}  // namespace framewire::session
