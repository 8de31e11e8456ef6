#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/plan/frame_ring.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/service/control.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace framewire::jobs {

/// Range of the playback speed, relative to the source's own rate.
inline constexpr double least_playback_speed = 0.01, most_playback_speed = 100;

/// State of the playback of a source.
struct PlaybackState {
    bool paused = false;
    /// The source is at its end.
    bool ended = false;
    /// Relative speed of a source that is not live.
    double speed = 1;
    /// Error message, if the source failed.
    std::string lost{};
    /// True once a frame was shown.
    bool shows = false;
    /// Time of the frame shown last.
    FrameTime time{};
    /// When that frame was shown.
    Clock::time_point shown_at{};
};

/// Playback control of a source: pause, step, seek and speed. It connects a user interface with the threads that read
/// and show frames. Each seek starts a new pass over the source; frames of earlier passes are no longer shown.
/// Thread-safe.
class Playback {
public:
    /// Frames of a `live` source are shown as they arrive.
    explicit Playback(bool live) : live_(live) {}

    /// Pauses or continues.
    void set_paused(bool paused);
    /// Shows one more frame and pauses.
    void step();
    /// Requests a seek; negative times are 0.
    void seek(double seconds);
    /// Sets the speed, clamped to least_playback_speed..most_playback_speed.
    void set_speed(double speed);
    /// Ends all waits; nothing more is shown.
    void close();
    /// Returns the current state.
    PlaybackState state() const;
    /// Target of a pending seek, else the time of the frame shown last.
    double position_seconds() const;

    /// A requested position, for the thread that reads the source.
    struct Seek {
        double seconds = 0;
        /// The pass that starts there.
        int pass = 0;
    };
    /// Takes the pending seek, if there is one.
    std::optional<Seek> take_seek();
    /// Called at the end of the source, or when it failed with the message `lost`. Waits for a seek. Returns false if
    /// the playback was closed.
    bool wait_for_seek(std::string lost);

    /// For the thread that shows frames: waits until the frame is due. Returns false if it is no longer wanted.
    bool wait_for_turn(int pass, const FrameTime& time);

private:
    template <class Change>
    void change(Change&& apply);

    bool live_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    PlaybackState state_;
    std::optional<double> seek_seconds_;
    // pass whose frames may be shown
    int pass_ = 0;
    // pass of the frame shown last
    int shown_pass_ = -1;
    // number of pending steps
    int steps_ = 0;
    bool closed_ = false;
    Pacer pacer_;
};

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
    /// Returns the current state.
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
    service::Controls controls() const;
    /// Carries out a control request; during a pause the current frame is filtered and shown again.
    void control(const service::ControlRequest& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A source whose reading a Playback controls. At its end, or after an error, it waits for a seek.
class ShowInput : public FilteredInput {
public:
    /// Opens the source, seekable and with filter switches. Throws as FilteredInput does.
    ShowInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
        : FilteredInput(seekable(input), job, std::move(stop)), playback_(info().live) {}

    /// Playback control; thread-safe.
    Playback& playback() { return playback_; }
    /// The same, read-only.
    const Playback& playback() const { return playback_; }

    /// Reads the next frame of the current pass. Returns false if the playback was closed; if the source failed before,
    /// throws its error then.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Filters the frame, and resets the filters at the first frame of a pass. Both images are on the host afterwards.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

private:
    static InputOptions seekable(InputOptions input) {
        input.seekable = true;
        input.may_skip = true;
        input.accepts_control = true;
        return input;
    }

    Playback playback_;
    std::exception_ptr lost_;
    // pass of the frames being captured
    int reading_pass_ = 0;
    // pass of the frames that the filters saw last
    int filtered_pass_ = 0;
};

}  // namespace framewire::jobs
