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

/// Limits of the playback speed, relative to the source's own rate.
inline constexpr double least_playback_speed = 0.01, most_playback_speed = 100;

/// State of the playback of a source.
struct PlaybackState {
    bool paused = false;
    /// True if the source has reached its end.
    bool ended = false;
    /// Playback speed of a source that is not live; 1 is the source's own rate.
    double speed = 1;
    /// Error message if the source failed.
    std::string lost{};
    /// True once a frame has been shown.
    bool shows = false;
    /// Time of the frame shown last.
    FrameTime time{};
    /// Moment at which that frame was shown.
    Clock::time_point shown_at{};
};

/// Playback control of a source: pause, step, seek and speed. It connects a user interface with the threads that read
/// and show frames. Each seek starts a new pass over the source, and frames of earlier passes are no longer shown.
/// Thread-safe.
class Playback {
public:
    /// Frames of a `live` source are shown as they arrive.
    explicit Playback(bool live) : live_(live) {}

    /// Pauses or resumes playback.
    void set_paused(bool paused);
    /// Shows one more frame, then pauses.
    void step();
    /// Requests a seek. Negative times count as 0.
    void seek(double seconds);
    /// Sets the speed, clamped to least_playback_speed..most_playback_speed.
    void set_speed(double speed);
    /// Ends all waits. Nothing is shown afterwards.
    void close();
    /// Returns the current state.
    PlaybackState state() const;
    /// Returns the target of a pending seek, or else the time of the frame shown last.
    double position_seconds() const;

    /// A requested position, taken by the thread that reads the source.
    struct Seek {
        double seconds = 0;
        /// Number of the pass that starts at this position.
        int pass = 0;
    };
    /// Returns the pending seek, if there is one, and clears it.
    std::optional<Seek> take_seek();
    /// Waits for a seek. Called when the source has ended or has failed with the message `lost`. Returns false if the
    /// playback was closed.
    bool wait_for_seek(std::string lost);

    /// Waits until the frame is due. Called by the thread that shows frames. Returns false if the frame must not be
    /// shown any more.
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

/// A frame to be displayed, both as captured and as filtered. Valid during the call.
struct ShownFrame {
    HostView<const std::uint8_t> captured, result;
    FrameTime time{};
};

/// Options of a ShowJob.
struct ShowOptions {
    JobOptions job{};
    InputOptions input{};
    /// If true, playback pauses at the first frame.
    bool paused = false;
    /// Speed of a source that is not live, relative to its own rate.
    double speed = 1;
    /// Called on the thread of run() with each frame, when the frame is due.
    std::function<void(const ShownFrame& frame)> on_frame{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const ShowOptions& options);

/// Plays a source through filters at the source's own rate, with pause, step, seek and speed. A job runs once.
class ShowJob {
public:
    /// Opens the source. Throws as FrameJob does.
    explicit ShowJob(const ShowOptions& options);
    ~ShowJob();

    /// Returns the properties of the source. shape() returns the shape of filtered frames.
    const SourceInfo& source() const;
    /// Returns the backend of the filters.
    Backend backend() const;
    /// Returns the shape of filtered frames.
    const Shape& shape() const;

    /// Plays until a stop is requested or JobOptions::frames frames have been shown; may be called once. At the
    /// source's end it waits, because the user may seek back. If the source fails, state() reports why, and the error
    /// is thrown after the stop.
    const JobResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const JobResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

    // Playback control while the job runs; see Playback. Callable from any thread.
    /// Returns the current state.
    PlaybackState state() const;
    /// Pauses or resumes playback.
    void set_paused(bool paused);
    /// Sets the speed, see Playback::set_speed().
    void set_speed(double speed);
    /// Shows the next frame, then pauses.
    void step();
    /// Shows the frame before the current one, then pauses. If the source's frame rate varies, shows the frame about
    /// one nominal frame duration earlier.
    void step_back();
    /// Seeks to a time, but not beyond the last frame. Returns false for a live source, which cannot seek.
    bool seek(double seconds);
    /// Seeks relative to the current position; negative values seek backwards. Returns false for a live source.
    bool seek_by(double seconds);
    /// Returns the state of picture controls and filter switches, see FilteredInput::controls().
    service::Controls controls() const;
    /// Carries out a control request. While paused, the current frame is filtered and shown again.
    void control(const service::ControlRequest& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A source whose reading is controlled by a Playback. After its end or an error, it waits for a seek.
class ShowInput : public FilteredInput {
public:
    /// Opens the source as seekable and with filter switches. Throws as FilteredInput does.
    ShowInput(const InputOptions& input, const JobOptions& job, std::stop_token stop)
        : FilteredInput(seekable(input), job, std::move(stop)), playback_(info().live) {}

    /// Returns the playback control, which is thread-safe.
    Playback& playback() { return playback_; }
    /// Returns the playback control as a read-only reference.
    const Playback& playback() const { return playback_; }

    /// Reads the next frame of the current pass. Returns false if the playback was closed. If the source had failed
    /// before, throws its error instead.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Filters the frame, after resetting the filters if it is the first frame of a pass. Both images are then on the
    /// host.
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
    // pass of the frames that were filtered last
    int filtered_pass_ = 0;
};

}  // namespace framewire::jobs
