#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/host_encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/rate_control.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/detect/zones.hpp"
#include "framewire/jobs/clips.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/live_recording.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/effort_fallback.hpp"
#include "framewire/plan/lag_monitor.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/plan/stream_encoder.hpp"
#include "framewire/service/control.hpp"
#include "framewire/service/events.hpp"
#include "framewire/service/live_camera.hpp"

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::jobs {

/// Options of a BroadcastJob.
struct BroadcastOptions {
    JobOptions job{};
    /// Source and filters. Filters and viewers see only the source's public_name().
    InputOptions input{};
    codec::EncoderParameters encoder{};
    /// Optional. Limits the bytes of delta frames per viewer over time, as measured by the frames' timestamps. Rate
    /// control may then raise the threshold above `encoder`'s, which becomes the minimum. Keyframes, which a viewer
    /// receives first or after falling behind, are not counted. Default: no limit.
    std::optional<codec::RateLimits> rate{};
    /// Static regions are refined (codec::Refiner) once they have not changed for this many seconds; 0 turns
    /// refinement off. Default: usual_refine_seconds, but 0 if the stream is recorded to `record`.
    std::optional<double> refine_seconds{};
    net::ServerOptions server{};
    /// Optional. If set, the stream is added to this listener under the name in `server`, and no listener is created.
    /// It must outlive the job.
    net::Listener* listener = nullptr;
    /// Optional. Records what viewers receive to this .fwd file; `:key=SECONDS` after the path sets the keyframe
    /// interval. Empty: no recording.
    std::string record{};
    /// Optional. Writes a clip of what viewers see around each event, see parse_clips(). With event zones the events
    /// are those in zones, else motion. Needs a detector. Empty: no clips.
    std::string clips{};
    /// Number of consecutive frames with objects after which motion begins, for clips.
    int motion_after_frames = service::MotionRules{}.after_frames;
    /// Credentials for the upstream server if this stream is relayed.
    net::ClientOptions upstream{};
    /// The first frame waits until this many viewers are connected, and the second until these viewers have received
    /// the first.
    int wait_for_viewers = 0;
    /// If true, frames of a source that is not live are sent as soon as they are available.
    bool hurries = false;
    /// If false, standard video of the camera has no sound.
    bool audio = true;
    /// Optional. Detects objects in frames as captured; viewers see them at the positions to which the filters move
    /// them.
    std::optional<DetectorOptions> detector{};
    /// Optional. Receives the objects that the detector found in each frame that is sent. It must outlive the job.
    service::SeenObjects* seen = nullptr;
    /// Optional. Persists the settings. Called when a viewer's control request is in force, before the viewer is
    /// answered.
    std::function<void()> persist_settings{};
    /// Initial privacy masks and detection areas, see BroadcastJob::set_zones(). They are scaled if frames have another
    /// size.
    service::LiveZones zones{};
    /// Initial event zones, see BroadcastJob::set_event_zones(). They have no effect without a detector. Its objects
    /// are tracked, with the default parameters if `detector` names none.
    ZoneSet event_zones{};
    /// Optional. File from which `event_zones` were read, for the command line that serves the camera.
    std::string event_zones_path{};
};

/// Finds the events in the zones of a stream. Used on the sending thread.
class WatchedZones {
public:
    /// Prepares for tracks in frames of this shape.
    WatchedZones(const ZoneSet& zones, const Shape& frame) : events_(zones, frame.width, frame.height) {}

    /// See ZoneEvents::set_zones().
    void set_zones(ZoneSet zones) {
        events_.set_zones(std::move(zones));
        occupied_.reset();
    }
    /// Returns the events of the next frame with boxes where `placement` moves them; valid until the next call.
    std::span<const ZoneEvent> update(std::span<const Track> tracks, double time_s, const PlaneMap& placement) {
        return moved(events_.update(tracks, time_s), placement);
    }
    /// Returns the events of objects that are inside at the end, see ZoneEvents::end().
    std::span<const ZoneEvent> end(const PlaneMap& placement) { return moved(events_.end(), placement); }
    /// Reports the zones if they have been set or occupied differently since the last call.
    void report_changes(service::SeenObjects& seen);
    /// Returns true if there are zones.
    bool any() const { return !events_.zones().empty(); }
    /// Returns true if an object is inside a polygon.
    bool any_inside() const {
        return std::ranges::any_of(events_.inside(), [](int objects) { return objects > 0; });
    }

private:
    std::span<const ZoneEvent> moved(std::span<const ZoneEvent> events, const PlaneMap& placement);

    ZoneEvents events_;
    std::vector<ZoneEvent> moved_{};
    // bit per zone that was reported as occupied; empty: the zones were not reported
    std::optional<std::bitset<max_event_zones>> occupied_{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const BroadcastOptions& options);

/// Outcome of a BroadcastJob.
struct BroadcastResult : JobResult {
    /// Traffic of the job's own listener, or of this stream if the listener is shared.
    net::ServerMetrics viewers{};
    /// Number of viewers that did not receive the end of the stream before the deadline.
    int viewers_left = 0;
    /// True if the source continues with frames of another size. Viewers were disconnected and can reconnect to the
    /// next job, which takes the source over through `BroadcastJob::opened()`.
    bool ended_at_new_size = false;
    /// True if BroadcastJob::end_here() ended the job. Viewers were disconnected and can reconnect, as after a change
    /// of the frame size.
    bool ended_for_requests = false;
    /// True if the job ended because its GPU failed, and another one, or the CPU, can go on. Viewers were disconnected
    /// and can reconnect, as after a change of the frame size.
    bool ended_with_gpu = false;
    /// Error that ended the recording, if another job continues the stream; null if recording succeeded.
    std::exception_ptr recording_failure{};
    /// Error of the first clip that could not be written, if another job continues the stream; null if there is none.
    std::exception_ptr clip_failure{};

    /// Returns true if another job is to continue the stream.
    bool goes_on() const { return ended_at_new_size || ended_for_requests || ended_with_gpu; }
};

/// Current state of a broadcast, as shown by the API and the page.
struct BroadcastStanding {
    /// Shapes of frames as captured and as sent.
    Shape source_shape{}, shape{};
    /// Nominal frames per second.
    Rational rate{30, 1};
    /// True while frames arrive; false while the source is lost or has not yet delivered a frame.
    bool up = false;
    /// Number of times that the source was lost and came back.
    std::int64_t reconnects = 0;
    codec::Mode mode = codec::Mode::exact;
    /// Current minimum threshold, and the bound that was signalled to viewers.
    int threshold = 0, threshold_max = 0;
    service::Controls controls{};
    /// Plan of the filters; empty for a relay, which has none.
    std::optional<service::LivePlan> plan{};
};

/// Sends one source through filters to any number of viewers as a difference stream.
///
/// run() captures, filters, encodes and sends until the source ends, a stop is requested or end_here() is called. A job
/// runs once. Functions that are documented as callable from any thread may be called while run() is in progress on
/// another thread.
class BroadcastJob {
public:
    /// Opens the source first and then everything else, cheap checks first, and starts listening last. Throws as
    /// FrameJob, StreamEncoder, codec::RateControl, make_detector(), fwd::Recorder, net::Server and refine_seconds_of()
    /// do, and Error{usage} if a rate limit is combined with the lossless mode.
    explicit BroadcastJob(const BroadcastOptions& options);
    ~BroadcastJob();

    /// Returns the address at which viewers find the stream.
    const net::StreamAddress& address() const;
    /// Returns the properties of the opened source. They do not change while the job runs.
    const SourceInfo& source() const;
    /// Returns the open source, to be passed as InputOptions::opened to the job that continues the stream.
    std::shared_ptr<OpenedSource> opened() const;
    /// Returns the picture controls (brightness, contrast, saturation, gain). Callable from any thread.
    CameraControls& camera_controls();
    /// Returns the state of the picture controls and filter switches, as FilteredInput::controls() does. Callable from
    /// any thread.
    service::Controls controls() const;
    /// Carries out one control request, as FilteredInput::control() does. Requests of viewers are parsed by
    /// parse_control(). Callable from any thread.
    void control(const service::ControlRequest& request);

    // Queries and control requests while the job runs; callable from any thread.

    /// Returns a snapshot of the job's current state.
    BroadcastStanding standing() const;
    /// Returns the traffic to viewers of this stream so far.
    net::StreamMetrics viewers() const;
    /// Returns the version of the picture that viewers see; 0 before the first frame.
    std::uint64_t picture_version() const;
    /// Returns the oldest version that may still be shown. Older versions were withdrawn by a request that hides parts
    /// of the picture.
    std::uint64_t oldest_picture_version() const;
    /// Copies the picture that viewers see to `to`, a view of standing().shape, and returns its header.
    net::StateHeader copy_picture(HostView<std::uint8_t> to) const;
    /// Replaces the filter chain, as FilteredInput::take_chain() does.
    bool take_chain(const std::string& chain);
    /// Sets the minimum threshold from the next frame on. Returns false and changes nothing if `threshold` exceeds the
    /// bound that was signalled to viewers.
    bool set_threshold(int threshold);
    /// Sets privacy masks and detection areas from the next frame on. Masks are applied before filters, detection and
    /// encoding. Throws as check_zones() does.
    void set_zones(const std::vector<service::LiveZone>& zones);
    /// Replaces the event zones, fractions of the source's frame, from the next frame on. Zones start tracking if
    /// objects are not tracked yet. Throws Error{config} if the camera has no detector.
    void set_event_zones(const ZoneSet& zones);
    /// Returns a ticket that completes once viewers see the effect of all requests accepted so far.
    RequestTicket ticket() const;
    /// Returns a ticket that completes when the first frame of this job has been sent.
    RequestTicket first_frame() const;
    /// Returns a ticket that completes when this job has ended.
    RequestTicket next_job() const;
    /// Ends the stream after the frames in flight, so that another job can continue with other options.
    void end_here();
    /// Starts a recording whose first frame is the next one, stored as a keyframe. Throws Error{usage} if a recording
    /// that was started this way is in progress, and as fwd::Recorder does.
    void start_recording(const std::string& path);
    /// Completes the recording started by start_recording(). Throws Error{usage} if there is none, and the original
    /// error if writing failed.
    void stop_recording();
    /// Returns the state of the recording started by start_recording(); empty if there is none or if writing failed.
    std::optional<service::LiveRecordingState> recording() const;

    /// Runs the job; may be called once. If a stage fails, viewers are informed and outputs are completed before the
    /// first error is thrown. A failed recording does not stop the job; its error is thrown at the end. Throws
    /// Error{no_input} if the source has no frames.
    const BroadcastResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const BroadcastResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Threshold currently applied to a broadcast. Rate control moves it if a rate limit is given.
///
/// Thread-safe: next() and took() are called by the thread that sends frames, and set_least() by any thread. `limits_`
/// and `greatest_` never change; the mutex guards the other members.
class ThresholdInForce {
public:
    /// Throws Error{usage} if a rate limit is combined with the lossless mode, and as codec::validate() does.
    ThresholdInForce(const codec::EncoderParameters& encoder, const std::optional<codec::RateLimits>& limits)
        : least_(encoder.effective_threshold()),
          limits_(limits),
          greatest_(limits ? limits->greatest_threshold(least_) : least_) {
        if (!limits) return;
        if (encoder.mode == codec::Mode::lossless)
            fail(ErrorCode::usage, "a bitrate cannot be combined with mode lossless, whose threshold is 0");
        validate(*limits, least_);
    }

    /// Returns the bound that holds for the whole stream and that is signalled to viewers, regardless of later changes
    /// of the minimum threshold.
    int greatest() const { return greatest_; }
    /// Returns the current minimum threshold.
    int least() const {
        const std::lock_guard lock(mutex_);
        return least_;
    }
    /// Sets the minimum threshold for the next frames. Returns false and changes nothing if it exceeds greatest().
    bool set_least(int threshold) {
        const std::lock_guard lock(mutex_);
        if (threshold > greatest_) return false;
        if (control_) control_->set_least(threshold);
        least_ = threshold;
        return true;
    }
    /// Sets the nominal frame rate and starts rate control. Called once, before all other functions.
    void set_frame_rate(double frames_per_second) {
        if (limits_) control_.emplace(*limits_, least_, frames_per_second);
    }
    /// Returns the threshold for the next frame, whose timestamp is `seconds`.
    int next(double seconds) {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->threshold(seconds) : least_;
    }
    /// Returns how many bytes may be sent in addition to delta frames; infinite without a rate limit.
    double room_bytes() {
        const std::lock_guard lock(mutex_);
        return control_ ? control_->room_bytes() : std::numeric_limits<double>::infinity();
    }
    /// Reports the size of a delta frame, so that rate control can move the threshold. Warns once if the stream exceeds
    /// its limit even at the greatest threshold.
    void took(double seconds, int threshold, std::int64_t bytes, Statistics& statistics) {
        statistics.add_step(seconds, threshold, bytes);
        const std::lock_guard lock(mutex_);
        if (!control_) return;
        control_->took(seconds, threshold, bytes);
        statistics.set_rate_limit(limits_->bits_per_second, control_->over());
        if (control_->over() == 0 || warned_) return;
        warned_ = true;
        log_warning("the stream exceeds {:.6g} Mbit/s even at threshold {}", 1e-6 * limits_->bits_per_second,
                    greatest());
    }

private:
    int least_;
    std::optional<codec::RateLimits> limits_;
    int greatest_;
    mutable std::mutex mutex_;
    std::optional<codec::RateControl> control_;
    bool warned_ = false;
};

/// Default time in seconds after which static regions of a broadcast are refined.
inline constexpr double usual_refine_seconds = 1;

/// Refinement of a broadcast: a second delta frame per frame, which brings static regions closer to the camera.
struct BroadcastRefinement {
    /// For frames of this shape; the arguments are those of codec::Refiner.
    BroadcastRefinement(const Shape& shape, double seconds, int threshold, Executor& executor)
        : refiner(shape, seconds, threshold, executor), step(shape, executor), packer(shape) {}

    /// Chooses what is refined.
    codec::Refiner refiner;
    /// Changes that the refinement of the last frame made to R.
    codec::RefinementDelta step;
    /// Packs `step`.
    codec::Packer packer;
    /// Packed form of `step`.
    std::vector<std::uint8_t> packed{};
};

/// Returns the time in seconds after which static regions of a stream are refined; empty if refinement is off. `asked`
/// is the value of the option; 0 turns refinement off. By default recorded streams are not refined, because a file
/// holds one state per frame; all others use usual_refine_seconds. Lossless streams have nothing to refine. Throws
/// Error{usage} if refinement of a recorded stream is requested.
std::optional<double> refine_seconds_of(std::optional<double> asked, const codec::EncoderParameters& encoder,
                                        bool recorded);

/// Per-frame results of a broadcast that do not depend on R. Each slot of the frame ring owns one object and reuses it;
/// one stage uses it at a time.
struct BroadcastFound {
    /// Objects that the detector found; meaningful if `has_objects`.
    FrameObjects objects{};
    /// True if the detector looked at this frame.
    bool has_objects = false;
    /// Recording that was started by request; null if there is none.
    std::shared_ptr<LiveRecording> live{};

    /// Waits until the objects are complete.
    void wait() {
        if (has_objects) objects.wait();
    }
};

/// State of a running broadcast.
///
/// Three threads share it: the capture thread fills frames, start() runs on the processing thread, and send() on the
/// thread that called run(), each in frame order. The frame ring hands each frame's data from one thread to the next,
/// so these data need no locks. `threshold`, `parts` and `in_force` have their own locks, because control requests
/// reach them from any thread.
///
///     BroadcastFound           start() writes   -> send() reads
///     encoder, R, refinement   send() encodes each frame against R
///     stream                   send() advances it; network threads read it
struct BroadcastJob::State {
    // Opens everything in the order of the members: first the input, then the encoder, the recording, and finally the
    // listener.
    explicit State(const BroadcastOptions& options);

    // Returns the shared listener, or opens the job's own one after checking the stream's name.
    net::Listener& listener(const BroadcastOptions& options);
    // Returns the handler for viewers' control requests; null if they are not allowed.
    net::Control control_for_viewers(const BroadcastOptions& options);
    // Describes the stream for viewers.
    net::StreamInfo stream_info() const;
    // Runs the frame ring until the source ends; fills `result`.
    void run();
    // Makes the results object of one slot.
    BroadcastFound make_found() const;
    // Processing thread: starts the detector.
    void start(InputFrame& frame, BroadcastFound& found);
    // Returns the refiner's input for this frame: its time and threshold, the bytes that rate control leaves, and the
    // stream's bytes without refinements.
    codec::Refiner::Moment moment(const FrameTime& time, int within) {
        return {time.seconds, within, threshold.room_bytes(),
                static_cast<double>(stream.counts().up_to_date_bytes - refined_bytes)};
    }
    // Sending thread: sends one frame to the stream, the recordings and `seen`, and reports its bytes to rate control.
    void send(InputFrame& frame, const FrameTime& time, const BroadcastFound& found);
    // Decides whether the encoder produces a delta frame, a keyframe or nothing. `watched`: the stream has viewers.
    codec::PackAs packed_as(const FrameTime& time, bool watched, const LiveRecording* live_one) const;
    // Encodes the frame, adds it to the stream and the recordings, and refines it. Returns the threshold it was encoded
    // with.
    int send_encoded(InputFrame& frame, const FrameTime& time, const BroadcastFound& found,
                     std::span<const Component> objects);
    // Refines the frame that was just sent and sends the refinement, if there is one, as an additional version of it.
    void send_refinement(Frame& camera, codec::EncodedFrame& encoded, const FrameTime& time,
                         std::span<const Component> objects, int within);
    // Sets the effort for a frame: 0 while a live camera's frames are dropped.
    void choose_effort();
    void watch_lag(const FrameTime& time);
    // Returns the threshold for a frame; 0 if it must replace R exactly.
    int threshold_of(const InputFrame& frame, const FrameTime& time);
    // Returns a ticket for the requests taken so far.
    RequestTicket ticket() const;
    // Carries out a viewer's control request and waits until it is in force.
    void obey_viewer(const std::string& control_request);
    // Adds a frame to the recording of the whole broadcast.
    void record(std::span<const std::uint8_t> packed, const FrameTime& time, int within);
    // Adds a frame to a recording that was started by request.
    void record_live(const BroadcastFound& found, std::span<const std::uint8_t> packed, const FrameTime& time,
                     int within);
    // Returns the objects inside the detection areas, at their positions in the sent frame.
    std::span<const Component> seen_by_viewers(const FrameObjects& objects);
    // Tracks the objects of the frame that was just sent, and reports them and their events in zones to `seen` and
    // `clips`. Without `is_searched` the frame has no objects, because it shows that the source is away.
    void report(const FrameTime& time, bool is_searched, std::span<const Component> objects);
    // Returns what happens in the frame that was just sent, for clips. `events` are those in zones.
    Happening happening(std::span<const ZoneEvent> events) const;
    // Makes the recorder of clips; null if there is none.
    std::unique_ptr<ClipRecorder> make_clips(const BroadcastOptions& options);
    // Completes the clip in progress.
    void finish_clips(FirstFailure& failure);
    // Returns the header data of a recording.
    fwd::Recording recording_facts() const;
    // Opens the recording of the whole broadcast; null if there is none.
    std::unique_ptr<fwd::Recorder> make_recorder(const BroadcastOptions& options);
    // Returns true until writing the recording of the whole broadcast fails.
    bool records() const { return recorder && recorder->goes_on(); }
    // Returns a snapshot of the state, for queries.
    BroadcastStanding standing() const;
    // Applies privacy masks and detection areas from the next frame on.
    void set_zones(const std::vector<service::LiveZone>& zones);
    // Starts a recording with the next frame.
    void start_recording(const std::string& path);
    // Completes the stream, the recordings and the statistics, and releases requests that are still waiting.
    void finish(FirstFailure& failure, Ending ending);

    int wait_for_viewers;
    bool hurries;
    // null unless standard video has sound
    std::shared_ptr<SoundTap> sound;
    FrameJob<FilteredInput> job;
    codec::EncoderParameters parameters;
    std::optional<double> refine_seconds;
    ThresholdInForce threshold;
    // shape of the frames that are sent
    Shape shape;
    StreamEncoder encoder;
    // empty unless the source is live and the mode is bounded
    std::optional<EffortFallback> fallback;
    std::optional<LagMonitor> lag;  // empty if no background is faster, and after its message
    int effort, effort_in_force;
    // empty if the stream is not refined
    std::optional<BroadcastRefinement> refinement;
    std::unique_ptr<FrameDetector> detector;
    // follows the objects in pixels of the source; empty unless tracks or events in zones are wanted
    std::optional<Tracker> tracker;
    service::SeenObjects* seen;
    std::function<void()> persist_settings;
    // reads the encoder's R, so `encoder` is declared before it
    net::StreamState stream;
    std::unique_ptr<fwd::Recorder> recorder;
    // null unless clips are wanted
    std::unique_ptr<ClipRecorder> clips;
    int motion_after_frames;
    // number of control requests in force in the frame that was sent last
    std::uint64_t requests_sent = 0;
    // bytes of all refinements sent
    std::int64_t refined_bytes = 0;
    // objects of one frame inside the detection areas, before and after the filters move them
    std::vector<Component> counted, moved;
    // tracks of one frame where the filters move them
    std::vector<Track> moved_tracks;
    // empty until there are event zones
    std::optional<WatchedZones> watched_zones;
    FrameTime last_time{};
    LiveParts parts;
    std::shared_ptr<RequestsInForce> in_force = std::make_shared<RequestsInForce>();
    std::optional<net::Listener> own_listener;
    net::ServedStream served;
    // bytes sent by earlier jobs that share these statistics
    std::int64_t sent_before;
    BroadcastResult result;
};

/// Time that viewers get to receive the last state and the end of the stream. The shorter limit applies if the user
/// stops the program.
inline constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

}  // namespace framewire::jobs
