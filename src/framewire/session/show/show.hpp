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

/// A frame to be looked at: as it came, and as the filters left it.
struct ShownFrame {
    HostView<const std::uint8_t> captured, result;
    FrameTime time{};
};

struct ShowOptions {
    JobOptions job{};
    InputOptions input{};
    bool paused = false;  ///< on the first frame
    double speed = 1;     ///< how many times its own rate a source that is not live is played at
    /// Called with each frame when its turn is; it holds until the call returns. On the thread of run().
    std::function<void(const ShownFrame& frame)> on_frame{};
};

/// What these options read and write.
JobFiles files_of(const ShowOptions& options);

/// From a source through filters to whoever looks at it, at the source's own rate, with pause, step and seek. For one
/// run.
class ShowJob {
public:
    /// Opens all there is. Throws as FrameJob does.
    explicit ShowJob(const ShowOptions& options);
    ~ShowJob();

    const SourceInfo& source() const;
    Backend backend() const;
    /// Of frames as filtered.
    const Shape& shape() const;

    /// To be called once. Returns when it is stopped, or has shown JobOptions::frames; the end of the source is not the
    /// end, for one may go back from there. What breaks the source shows in state(), and is thrown once it is stopped.
    const JobResult& run();
    const JobResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

    // From any thread, while it runs.
    PlaybackState state() const;
    void set_paused(bool paused);
    void set_speed(double speed);
    /// Shows the next frame, and pauses.
    void step();
    /// Shows the frame before the last, and pauses. Where a source's rate varies it is the one about a frame's time
    /// earlier.
    void step_back();
    // False of what is live, which has no other time.
    bool seek(double seconds);
    bool seek_by(double seconds);
    /// As FilteredInput's; a frame that is looked at in a pause is shown again.
    Controls controls() const;
    void control(const ControlOrder& order);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
