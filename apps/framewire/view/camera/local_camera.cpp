// A local source in the window, which a ShowJob plays.

#include "view/camera/local_camera.hpp"

#include "framewire/core/time.hpp"

#include <fmt/format.h>

#include <utility>

namespace framewire::app {
namespace {

constexpr double no_signal_after_ms = 2000;

// Describes the playback state.
std::string playing_text(const jobs::PlaybackState& state) {
    if (state.paused) return "paused";
    if (state.ended) return "at the end";
    return state.speed == 1 ? "at normal speed" : fmt::format("{:.3g} times normal speed", state.speed);
}

}  // namespace

// Frames are stored for display on the job's thread.
LocalCamera::LocalCamera(jobs::ShowOptions options) {
    options.on_frame = [this](const jobs::ShownFrame& frame) {
        put_seen(frame.result);
        original_.put(frame.captured);
        tell_changed();
    };
    job_ = std::make_unique<jobs::ShowJob>(options);
}

bool LocalCamera::give(const TakePicture& take, std::size_t number) {
    const bool result = ShownCamera::give(take, number), original = original_.give(take, number + 1);
    return result || original;
}

// Checks for problems in this order: the job failed, the source is lost, or a live source delivers no frames.
std::string LocalCamera::trouble() const {
    if (over() && !failure_text().empty()) return "ended: " + failure_text();
    const auto state = job_->state();
    if (!state.lost.empty()) return "source lost: " + state.lost;
    if (job_->source().live && !state.paused) {
        const double silent_ms = milliseconds_since(state.shows ? state.shown_at : opened_at_);
        if (silent_ms > no_signal_after_ms) return fmt::format("no signal for {:.0f} s", silent_ms / 1000);
    }
    return {};
}

std::vector<Figure> LocalCamera::figures() {
    const auto state = job_->state();
    const auto& source = job_->source();
    const auto now = job_->statistics().snapshot();
    const double fps = frames_(static_cast<double>(now.frames));
    std::vector<Figure> figures{
        {"source", fmt::format("{}{}", to_string(source.shape), source.live ? ", live" : "")},
        {"shown", fmt::format("{} on {}", to_string(job_->shape()), to_string(job_->backend()))},
        {"frames", fmt::format("{:.1f} of {:.4g} fps", fps, source.rate.value()), fps},
        {"raw", fmt::format("{:.1f} Mbit/s", 8e-6 * bytes_(static_cast<double>(now.raw_bytes)))},
        {"read", fmt::format("{:.2f} ms", now.read_ms.median_ms)},
        {"filters", fmt::format("{:.2f} ms", now.process_ms.median_ms), now.process_ms.median_ms},
        {"dropped", fmt::format("{} of {}", now.drops, now.frames + now.drops)},
        {"at", position_text(*job_)},
        {"playing", playing_text(state)},
    };
    return figures;
}

std::string position_text(const jobs::ShowJob& job) {
    const auto state = job.state();
    const auto& source = job.source();
    auto text = to_clock_text(state.time.seconds);
    if (source.frames) text += " / " + to_clock_text(static_cast<double>(*source.frames) / source.rate.value());
    return fmt::format("{}  frame {}", text, state.time.index);
}

}  // namespace framewire::app
