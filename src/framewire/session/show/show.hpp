#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"
#include "framewire/session/show/playback_state.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace framewire::session {

/// A frame to be displayed: as captured and as filtered. Valid during the call.
struct ShownFrame {
    HostView<const std::uint8_t> captured, result;
    FrameTime time{};
};

/// Options of a ShowJob.
struct ShowOptions {
    JobOptions job{};
    InputOptions input{};
    /// If true, playback pauses on the first frame.
    bool paused = false;
    /// Speed of a source that is not live, relative to its own rate.
    double speed = 1;
    /// Called on the thread of run() with each frame when it is due.
    std::function<void(const ShownFrame& frame)> on_frame{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const ShowOptions& options);

/// Plays a source through filters at its own rate, with pause, step, seek and speed. A job runs once.
class ShowJob {
public:
    /// Opens the source. Throws as FrameJob does.
    explicit ShowJob(const ShowOptions& options);
    ~ShowJob();

    /// Describes the source. shape() describes the filtered frames.
    const SourceInfo& source() const;
    /// Backend of the filters.
    Backend backend() const;
    /// Shape of filtered frames.
    const Shape& shape() const;

    /// Plays until a stop is requested or JobOptions::frames frames were shown; may be called once. The end of the
    /// source does not end it, because the user may seek back. If the source fails, state() shows why, and the error is
    /// thrown after the stop.
    const JobResult& run();
    /// Result of run(), valid even if it threw.
    const JobResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;

    // Playback control while the job runs, from any thread; see Playback.
    PlaybackState state() const;
    /// Pauses or continues.
    void set_paused(bool paused);
    /// Sets the speed, see Playback::set_speed().
    void set_speed(double speed);
    /// Shows the next frame and pauses.
    void step();
    /// Shows the frame before the last one and pauses. If the source's rate varies, shows the frame about one nominal
    /// frame duration earlier.
    void step_back();
    /// Seeks to a time, at most to the last frame. Returns false for a live source, which cannot seek.
    bool seek(double seconds);
    /// Seeks relative to the current position; negative values go back. Returns false for a live source.
    bool seek_by(double seconds);
    /// State of picture controls and filter switches, see FilteredInput::controls().
    Controls controls() const;
    /// Carries out a control request; during a pause the current frame is filtered and shown again.
    void control(const ControlOrder& order);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
