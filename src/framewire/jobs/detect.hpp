#pragma once

#include "framewire/core/time.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/detect/zones.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/frame_detector.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire::jobs {

/// Region in which objects are detected: the whole frame, a union of rectangles, or the non-black pixels of a picture,
/// given as a path for open_source().
using DetectorRegion = std::variant<std::monostate, std::vector<Zone>, std::string>;

/// Options of motion detection.
struct DetectorOptions {
    DetectorParameters parameters{};
    DetectorRegion region{};
    /// Optional. Gives objects an identity that lasts from frame to frame.
    std::optional<TrackerParameters> tracker{};
};

/// Returns true if another background takes much less time: for an adaptive one.
bool has_faster_background(const DetectorOptions& options);
/// Says which, for messages about frames that are late. Measured 2026-11-28 at 1080p: 17 and 1.2 ms per frame on one
/// thread, 117 and 19 us on an H200.
inline constexpr std::string_view faster_background_text =
    "--background mixture needs 1/14 of the detector's time on a CPU, 1/3 on a GPU, but is less accurate outdoors";

/// Adds the pictures that these options read to `files`.
void add_input_files(JobFiles& files, const DetectorOptions& options);

/// Options for writing the intermediate images of the detector's steps.
struct DetectStepsOptions {
    /// Optional. Output folder, created if necessary. Empty: no steps are written.
    std::string folder{};
    /// File extension: a video format as in open_sink(), or png or jpg for image sequences such as gray000000.png.
    std::string format = "mkv";
};

/// Adds the files that these options write; adds nothing if there is no folder. Throws Error{usage} if the format is
/// not supported.
void add_step_files(JobFiles& files, const DetectStepsOptions& options, const DetectorParameters& detector);

/// Options of a DetectJob.
struct DetectOptions {
    JobOptions job{};
    InputOptions input{};
    DetectorOptions detector{};
    /// Path of the file for the object records; - is standard output.
    std::string output{"-"};
    RecordFormat format = RecordFormat::jsonl;
    /// Optional. Sink for frames with outlined objects, see open_sink().
    std::string annotate{};
    /// If true, the source's sound is copied to `annotate`, if that output can hold sound.
    bool audio = true;
    /// Optional. Sink for the foreground masks, see open_sink().
    std::string mask{};
    /// Optional. File or folder for label images, see LabelOutput.
    std::string labels{};
    DetectStepsOptions steps{};
    /// Seconds of each track's path that `annotate` shows; 0 shows none. Requires a tracker or zones.
    double trails_seconds = 0;
    /// Event zones, fractions of the filtered frame. Unless the set is empty, the objects are tracked, with the default
    /// parameters if `detector` names none, and the records, which must be JSON lines, contain the events.
    ZoneSet zones{};
    /// Optional. Writes a clip of the filtered frames around each event, see parse_clips(). With zones the events are
    /// those in zones, else motion. The clips are cut when the whole source has been read, by reading it again, so it
    /// must not be live. Empty: no clips.
    std::string clips{};
};

/// Returns the files that these options read and write. Throws Error{usage} if several outputs are standard output, if
/// there are trails without a tracker or zones, or without `annotate`, or if there are zones and the records are not
/// JSON lines.
JobFiles files_of(const DetectOptions& options);

/// Outcome of a DetectJob.
struct DetectResult : JobResult {
    /// Number of objects recorded, summed over all frames.
    std::int64_t objects = 0;
    /// Number of objects found but not recorded, because their frames had too many.
    std::int64_t left_out = 0;
    /// Number of events in zones.
    std::int64_t events = 0;
    /// Paths of the clips.
    std::vector<std::string> clips{};
};

/// Finds moving objects in the filtered frames of a source and writes records, and optionally videos and label images.
/// A job runs once.
class DetectJob {
public:
    /// Opens the source first and then everything else, cheap checks first and outputs last. Throws as files_of(),
    /// FrameJob, make_detector(), open_sink() and OutputFile do.
    explicit DetectJob(const DetectOptions& options);
    ~DetectJob();

    /// Runs the job; may be called once. If a stage fails, the outputs are completed with the results so far, and the
    /// first error is thrown. Throws Error{no_input} if the source has no frames.
    const DetectResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const DetectResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Returns the detection region for masks of the size of `frame`; empty if detection is not restricted. Reads the
/// picture if `region` names one. Throws as open_source() and MaskRegion do, and Error{usage} if the picture's size
/// differs from the frame's.
std::optional<MaskRegion> make_region(const DetectorRegion& region, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop);

/// Returns the picture of a region in gray; pixels that are not 0 belong to the region. Throws as open_source() does,
/// and Error{usage} if its size differs from the frame's.
HostImage load_region(const std::string& path, const Shape& frame, const std::stop_token& stop);

/// Returns the background picture if `options` name one; otherwise empty. Throws as open_source() does, and
/// Error{usage} if the picture's size differs from the frame's.
std::optional<HostImage> load_background(const DetectorOptions& options, const Shape& frame,
                                         const std::stop_token& stop);

/// Makes a detector for frames of this shape and rate, and reads its region and background picture from their files. If
/// `with_masks` is true, the foreground masks are kept for the caller. Throws as MotionDetector and open_source() do,
/// and Error{usage} if a picture's size differs from the frame's. `executor` must outlive the detector.
std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Rational rate,
                                             Executor& executor, const std::stop_token& stop, bool with_masks = false);

/// Writes each step of a detector as a video or an image sequence. The steps are recomputed on the CPU.
class DetectSteps {
public:
    /// Opens all outputs. Throws as make_detector() and open_sink() do.
    DetectSteps(const DetectStepsOptions& options, const DetectorOptions& detector, const Shape& frame, Rational rate,
                int threads, const SinkOptions& sinks, const std::stop_token& stop);

    /// Writes the steps of one frame, which is the detector's input.
    void write(HostView<const std::uint8_t> frame, const FrameTime& time);
    /// Completes all outputs. Throws the first error after all outputs have been tried.
    void finish(Ending ending);
    /// Returns the number of bytes written so far.
    std::int64_t bytes() const;

private:
    Executor executor_;
    std::optional<MaskRegion> region_;
    DetectorSteps steps_;
    // one output per step, in the order of the steps
    std::vector<VideoOutput> videos_;
};

}  // namespace framewire::jobs
