#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/fps.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/address.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/frame_plan.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::jobs {

/// Limits on the frames of one job. An empty member means no limit.
struct FrameLimits {
    /// Maximum number of pixels of any image between source and result.
    std::optional<std::int64_t> max_pixels{};
    /// Maximum estimated memory of all images of the job, in bytes.
    std::optional<std::int64_t> max_memory_bytes{};
    /// True if a detector keeps a background model, whose memory counts too.
    bool detects = false;

    /// Default pixel limit of a served camera: the largest picture that viewers accept, 8192x8192 pixels.
    static constexpr std::int64_t served_pixels = std::int64_t{8192} * 8192;
    /// Returns the default memory limit of a served camera: 8 GB, or half of this machine's memory if that is less.
    static std::int64_t served_memory_bytes();
};

/// Estimates the memory and time that `chain` needs for frames of shape `frame`, before anything is planned or
/// allocated. Throws Error{usage} with the numbers if a limit is exceeded, if memory is limited and a frame may take
/// more than 20 s, or if a filter does not accept its input.
void check_limits(const FrameLimits& limits, const Chain& chain, const Shape& frame);

/// Returns an upper bound for the memory of a job that sends the results of `chain` to viewers.
std::int64_t estimated_bytes(const Chain& chain, const Shape& frame, bool detects);

/// One frame in the pipeline: as captured and, if there are filters, as filtered.
struct InputFrame {
    Frame captured, filtered;
    /// Memory of planes that filters take and make.
    FramePlanes work{};
    /// Native frame that replaces the captured image, see FilteredInput::give_planes().
    std::shared_ptr<const NativeFrame> own{};
    /// Format of the native frame or the image, for inputs whose frames differ.
    FrameFormat format{};
    /// True if the captured image is there, although there is a native frame.
    bool has_image = true;
    /// Planes that replace the result's image, see FilteredInput::give_planes().
    std::shared_ptr<const YuvPicture> planes{};
    /// False if the source is away and the picture only says so.
    bool signal = true;
    /// Number of seeks before this frame, for a source whose playback position the user controls.
    int pass = 0;
    /// Number of the source's frame if the chain changes the rate.
    std::int64_t reading = 0;
    /// False if a change of the rate skips the frame, so that only the filters before the change see it.
    bool looked_at = true;
    /// True if all filters of the chain are off.
    bool unfiltered = false;
    /// False if a change of the rate skips the frame or if it lies before the time range.
    bool sent = true;
    /// Number of control requests that were in force when the frame was made.
    std::uint64_t requests = 0;
    /// True for the first frame made after a request that changes what pictures show. Nothing of earlier pictures may
    /// remain visible.
    bool replaces = false;

    /// Returns the filtered frame, or the captured one if no filter was applied.
    Frame& result() { return filtered.empty() || unfiltered ? captured : filtered; }
    /// Waits until all work queued for both images is done, so that the slot can be reused.
    void wait() {
        captured.wait();
        work.wait();
        filtered.wait();
    }
};

/// Starts `stage` on the result of the filters: on planes if there is a native frame that has them, else on the image.
template <class Stage, class Found>
void start_on(InputFrame& frame, Stage& stage, Found& found) {
    if (const auto own = std::exchange(frame.own, nullptr)) {
        if (const auto planes = own->planes()) return stage.start(*planes, found);
        own->to_image(frame.captured.fill_on_host());
    }
    stage.start(frame.result(), found);
}

/// Consumers that need the results of the filters.
struct Wanted {
    /// True if a sink needs the result in host memory.
    bool on_host = false;
    /// True if the job's own stages need the result in the backend's memory.
    bool by_stages = false;
    /// True if they, or the sink, also need the captured frame's image.
    bool captured = false;
};

/// Makes the executor of a job.
Executor make_executor(const JobOptions& job);

/// Writes the captured image from the frame's native frame, unless it is already there. A picture that was decoded on
/// the GPU is only written there.
void make_image(InputFrame& frame);

/// Passes on a frame that has no filters: makes its image, and brings it to where it is wanted.
void pass_on(InputFrame& frame, const Executor& executor, Wanted wanted);

/// Returns the frame's picture in the memory of the backend: its native frame's planes if these have the format that
/// `plan` takes, and otherwise its image.
template <MemorySpace space>
PictureView<const std::uint8_t, space> source_picture(InputFrame& frame, const FramePlan& plan,
                                                      const Executor& executor) {
    if (plan.begins_on_planes() && frame.own) {
        if constexpr (space == MemorySpace::device) {
            if (const auto gpu = frame.own->on_gpu(); gpu && gpu->info == plan.source().planes()) {
                YuvView<const std::uint8_t, space> view;
                executor.step("upload", [&] {
                    view = frame.work.source(*gpu);
                    if (frame.captured.filled_on_gpu()) frame.captured.upload();  // for stages that read the image too
                });
                return view;
            }
        }
        if (const auto planes = frame.own->planes(); planes && planes->info == plan.source().planes()) {
            if constexpr (space == MemorySpace::host) return *planes;
            YuvView<const std::uint8_t, space> view;
            executor.step("upload", [&] { view = frame.work.source<space>(*planes); });
            return view;
        }
    }
    make_image(frame);
    if constexpr (space == MemorySpace::device) executor.step("upload", [&] { frame.captured.upload(); });
    return View<const std::uint8_t, space>(frame.captured.in<space>());
}

/// Runs a plan on a frame, from `in` to the frame's result.
template <MemorySpace space>
void run_plan(FramePlan& plan, InputFrame& frame, const PictureView<const std::uint8_t, space>& in,
              const PictureView<const std::uint8_t, space>& original) {
    if (const auto& planes = plan.result().planes())
        plan.run(in, original, frame.work.result<space>(*planes));
    else
        plan.run(in, original, PictureView<std::uint8_t, space>(frame.filtered.in<space>()));
}

/// Brings a plan's result to the host if it is wanted there. Host memory is valid after InputFrame::wait(); stages on
/// the same backend may start at once.
void take_result(const FramePlan& plan, InputFrame& frame, const Executor& executor, Wanted wanted);

/// Picture for a source that is away: its last frame, darkened, with "no signal" in the middle. Not thread-safe.
class NoSignal {
public:
    NoSignal() = default;
    NoSignal(const NoSignal&) = delete;
    NoSignal& operator=(const NoSignal&) = delete;

    /// Returns a function for SourceOptions::draw_loss that refers to this object. Its first call for each size
    /// allocates memory. If there is no font, the frame is only darkened and a warning is logged.
    std::function<void(HostView<std::uint8_t>)> drawing() {
        return [this](HostView<std::uint8_t> image) { draw(image); };
    }
    /// Returns true if the picture was drawn since the previous call.
    bool take_drawn();

private:
    void draw(HostView<std::uint8_t> image);

    // rendered text, white on black
    HostImage words_;
    bool drawn_ = false;
};

/// An open source with its "no signal" picture, which consecutive jobs can share.
class OpenedSource {
public:
    /// Opens the source. Throws as open_source() does, also if a stop is requested meanwhile.
    OpenedSource(const InputOptions& input, const JobOptions& job, const std::stop_token& stop);

    /// Returns true if the source may be decoded on a GPU.
    bool may_use_gpu() const { return may_use_gpu_; }
    /// Returns the source, which only one thread may use at a time.
    Source& source() { return *source_; }
    /// Returns the picture that is shown while the source is away.
    NoSignal& no_signal() { return no_signal_; }
    /// Returns where the source's video is decoded. Callable from any thread.
    const std::shared_ptr<DecodeMonitor>& decode_monitor() const { return decode_monitor_; }
    /// Ends the current read and all later ones. Callable from any thread.
    void stop() { stop_.request_stop(); }

private:
    std::stop_source stop_;
    NoSignal no_signal_;
    std::shared_ptr<DecodeMonitor> decode_monitor_ = std::make_shared<DecodeMonitor>();
    std::unique_ptr<Source> source_;
    bool may_use_gpu_;
};

/// Returns a source's name without private parts: folders of this machine, and a URL's user, password and query.
std::string public_name(const std::string& source);

/// Opens the stream of a framewire server as a live source. Each frame of the server's source is returned once, as soon
/// as all blocks of the picture belong to it; refinements are skipped. Throws as net::Client does.
std::unique_ptr<Source> open_stream_source(const net::StreamAddress& address, const StreamAccess& access,
                                           const SourceOptions& options);

/// Tracks the position of a job in its time range: decides which frames belong to the range, and checks that they are
/// the frames for which the range was planned. Not thread-safe.
class SegmentPosition {
public:
    /// Position of a frame relative to the range.
    enum class Is { before, within, behind };

    /// `input` must have a time range. `name` is the source's name in messages.
    SegmentPosition(const InputOptions& input, std::string name);

    /// Returns the time range.
    const FileSegment& segment() const { return segment_; }

    /// Begins with the first frame that filters and detectors see. `damaged` is the value of Source::damaged() at that
    /// moment.
    void begin(std::int64_t damaged);
    /// Sets the number of the frame that was just read and returns its position. Throws Error{config} if there are too
    /// few or too many frames before it. Throws Error{source_lost} if the frame is after the range and the source
    /// reports more damage than at the start.
    Is take(FrameTime& time, std::int64_t damaged);
    /// Checks the number of frames when the source has ended. Throws Error{config} if frames are missing.
    void end();

    /// Returns the position of frame `number`, counted at the rate that the filters produce.
    Is at_rate(std::int64_t number) const;

private:
    // Throws unless `too_many`, the number of surplus frames, is 0.
    void require(std::int64_t too_many) const;

    FileSegment segment_;
    std::string name_;
    std::int64_t next_ = 0, damaged_ = 0;
    std::int64_t rated_begin_ = 0, rated_end_ = std::numeric_limits<std::int64_t>::max();
};

/// Returns the time at which the first frame of the range is written, rounded down to whole seconds. Video files of the
/// parts begin at this time.
double whole_seconds_before(const InputOptions& input);

/// Returns InputOptions::fps as a fraction with denominator 1000; empty if no rate is requested.
inline std::optional<Rational> asked_rate(double fps) {
    if (fps <= 0) return std::nullopt;
    return Rational{std::llround(fps * 1000), 1000};
}

/// Converts a source's frames to another rate by repeating and skipping frames, as FFmpeg's filter `fps` does
/// (FpsSchedule). Reads one frame ahead, because the next frame's time determines how long the current one lasts. Not
/// thread-safe.
class FrameResampler {
public:
    /// A frame of the source.
    struct Picture {
        HostImage image;
        FrameTime time{};
        /// Native frame that replaces the image.
        std::shared_ptr<const NativeFrame> own{};
        /// False if the source is away, see InputFrame.
        bool signal = true;
    };

    /// Reads the source's next frame. Returns false at its end.
    using Read = std::function<bool(Picture& picture)>;

    /// `own` is the source's nominal rate; the last frame lasts at least 1 / `own` seconds. If `everything` is true,
    /// capture() also returns the frames that the new rate skips.
    FrameResampler(const Shape& shape, Rational own, Rational wanted, bool everything, Read read);

    /// Description of a captured frame.
    struct Given {
        /// Number of the source's frame.
        std::int64_t reading = 0;
        /// False if the new rate skips this frame.
        bool at_rate = true;
        /// False if the source is away, see InputFrame.
        bool signal = true;
        /// Native frame that replaces the image.
        std::shared_ptr<const NativeFrame> own{};
    };
    /// Returns the next frame with its time and number at the new rate, or false at the end. If reading throws, the
    /// frames before the error are returned before it is rethrown.
    bool capture(HostView<std::uint8_t> image, FrameTime& time, Given& given);

    /// Resets the schedule after a seek of the source.
    void begin_again();

    /// Returns the new rate.
    const Rational& rate() const { return schedule_.rate(); }

private:
    // Reads into `next_` and stores an exception for later. Returns has_next_.
    bool read_next();
    bool go_on();

    FpsSchedule schedule_;
    Rational own_rate_;
    bool everything_;
    Read read_;
    Picture current_, next_;
    bool has_next_ = false, began_ = false;
    // State of current_: its number in the source, how often it is still to be returned, and whether it has been
    // returned at all.
    std::int64_t reading_ = 0, left_ = 0;
    bool given_ = true;
    std::exception_ptr failure_;
};

/// When frames are passed on, as set by `--rate`: the output decides, frames keep their own times, or frames are passed
/// on as soon as they are available.
enum class PlayRate { by_output, own, max };

/// Parses auto, own, max or a number of frames per second. A number is stored in `options`, and the output then decides
/// when frames are passed on. Throws Error{usage} for any other text; the message lists the `allowed` ones.
PlayRate take_rate(const std::string& text, std::string_view allowed, InputOptions& options);

}  // namespace framewire::jobs
