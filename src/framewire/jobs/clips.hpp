#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/plan/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire {
struct SinkOptions;
}

namespace framewire::jobs {

/// How clips are cut.
struct ClipOptions {
    std::string folder{};  ///< output folder
    std::string ending{};  ///< extension, such as mp4; empty: fwd for a recording, else mp4, or y4m without FFmpeg
    double before_seconds = 0, after_seconds = 0;  ///< added around each event
    double most_seconds = 0;                       ///< a longer clip continues in another file; 0: no limit
    bool audio = true;                             ///< copies the sound
};

/// Parses `FOLDER:before=SECONDS:after=SECONDS:most=SECONDS`. The defaults are 5, 5 and 120 seconds. Throws
/// Error{usage}.
ClipOptions parse_clips(const std::string& text);

/// Creates the folder of the clips if it does not exist. Throws Error{io} if that fails or if files cannot be created
/// in it.
void prepare_clip_folder(const std::string& folder);

/// Returns the extension of clips of sources that are no recordings: mp4, or y4m in a build without FFmpeg.
std::string usual_clip_ending();

/// A time range of a source, in seconds.
struct ClipRange {
    double begin_seconds = 0, end_seconds = 0;

    friend bool operator==(const ClipRange&, const ClipRange&) = default;
};

/// Returns the beginning of the file name of a clip that begins at `seconds` of a source: the source's name without
/// folder and extension, and the time of day in UTC, or if `began_us`, the time of day at 0 seconds in microseconds
/// since 1970, is 0, the time since the start: `street-20261123-190035Z`, `street-00h01m48s`.
std::string clip_name(const std::string& source, std::int64_t began_us, double seconds);

/// Returns the options of a job that reads a source again, and writes the frames of a range to the file `path`.
RunOptions cut_of(const JobOptions& job, const InputOptions& input, const ClipRange& range, const std::string& path,
                  bool audio);

/// Splits a range into parts of at most `most_seconds`; 0: into one.
std::vector<ClipRange> parts_of(const ClipRange& range, double most_seconds);

/// Effect of a frame on clips.
struct Happening {
    bool starts = false;   ///< a clip starts, if this is the `after_frames`-th such frame in a row
    bool lasts = false;    ///< a clip in progress is extended
    int after_frames = 1;  ///< at least 1
};

/// Finds the time ranges of clips while frames arrive. A range begins `before_seconds` before the first of the frames
/// that start it, and ends `after_seconds` after the last frame in which something happens. Ranges that would overlap
/// are one.
class ClipTimes {
public:
    /// Starts without a range.
    ClipTimes(double before_seconds, double after_seconds) : before_(before_seconds), after_(after_seconds) {}

    /// Adds the next frame. Times must not decrease.
    void add(double seconds, const Happening& happening);
    /// Returns the newest range, which later frames may extend; empty if there is none yet.
    const std::optional<ClipRange>& range() const { return range_; }
    /// Returns true if a frame belongs to the newest range.
    bool wants(double seconds) const {
        return range_ && seconds >= range_->begin_seconds - rounding && seconds <= range_->end_seconds + rounding;
    }
    /// Returns the time before which no later range begins.
    double horizon_seconds() const;
    /// Forgets everything.
    void reset();

private:
    static constexpr double rounding = 1e-6;  // files have times in microseconds or ticks

    double before_, after_;
    std::optional<ClipRange> range_;
    std::optional<double> newest_;
    double run_begin_ = 0;  // time of the first of `run_` consecutive frames with Happening::starts
    int run_ = 0;           // up to the number that starts a clip
};

/// Writes clips of a difference stream while it is sent. The recorder is a viewer that lags behind: packed frames wait
/// until they are older than `before_seconds`, and are then applied to a picture. If an event is in progress or has
/// begun meanwhile, the picture is also written to a file. Hence the seconds before an event are held as packed frames,
/// not as pictures, and nothing is encoded as video between events.
///
/// Decoding and writing run on the recorder's own thread, so that a slow disk does not delay the stream. Everything is
/// bounded: if waiting frames take more than the limit, the oldest ones leave early and clips begin later; if the
/// thread cannot keep up, frames are missing in clips. Both are logged once.
///
/// A clip is a `.part` file until it is complete. A clip that cannot be written is logged and given up, and the next
/// one is tried again. Call all members from one thread.
class ClipRecorder {
public:
    /// Function that copies the stream's current picture.
    using Draw = std::function<void(HostView<std::uint8_t> picture)>;
    /// The stream of which clips are written.
    struct Stream {
        /// Begins the names of the files. May contain only characters that are valid in a file name.
        std::string name{};
        Shape shape{};
        Rational rate{30, 1};
        /// If true, add() waits for the recorder's thread instead of losing frames. For streams of files.
        bool waits = false;
    };
    /// `sink` says how files are written.
    ClipRecorder(const ClipOptions& options, const Stream& stream, const SinkOptions& sink);
    /// Gives up the clip in progress, unless finish() was called.
    ~ClipRecorder();
    ClipRecorder(const ClipRecorder&) = delete;
    ClipRecorder& operator=(const ClipRecorder&) = delete;

    /// Adds a frame that was just sent: its packed form, or if that is empty the picture that `draw` copies. If
    /// `signal` is false, the frame only shows that the source is away: it is in no clip, and a clip in progress ends.
    /// If `replaces` is true, nothing of earlier frames may be shown any more: those that are not written yet never
    /// are, and a clip in progress ends. Copies `packed`.
    void add(std::span<const std::uint8_t> packed, const FrameTime& time, bool signal, bool replaces, const Draw& draw);
    /// Adds a refinement of the frame that was added last. Copies `packed`.
    void add_refinement(std::span<const std::uint8_t> packed);
    /// Says what happens in the frame that was added last.
    void note(const Happening& happening);
    /// Discards the frames that are not written yet, as `replaces` does.
    void withdraw();

    /// Ends the clip in progress with the frames added so far, and waits until it is written. Throws the first error of
    /// a clip that could not be written.
    void finish();

    /// Sets the limit of the waiting bytes, for tests.
    void limit_waiting(std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::jobs
