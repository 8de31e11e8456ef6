#pragma once

#include "framewire/delta/delta.hpp"
#include "framewire/delta/rate/rate_control.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/pipeline/chain/camera_panel.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/detector_options.hpp"
#include "framewire/session/events/seen_objects.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/live/parts/live_recording_state.hpp"
#include "framewire/session/live/parts/orders_in_force.hpp"
#include "framewire/session/live/zones.hpp"
#include "framewire/session/options.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

/// Options of a BroadcastJob.
struct BroadcastOptions {
    JobOptions job{};
    /// Source and filters. Filters and viewers see only the source's public_name().
    InputOptions input{};
    delta::EncoderParameters encoder{};
    /// Optional. Limits the bytes of delta frames per viewer, by the frames' own times: `encoder`'s threshold is then
    /// the least one in force, and rate control may raise it. Keyframes, which a viewer receives first or after falling
    /// behind, are not counted. Default: no limit.
    std::optional<delta::RateLimits> rate{};
    /// Static regions are refined (delta::RestSharpener) once they have not changed for this many seconds; 0 turns
    /// refinement off. Default: usual_refresh_seconds, but 0 if the stream is recorded to `record`.
    std::optional<double> refresh_seconds{};
    net::ServerOptions server{};
    /// Optional. If set, the stream is added to this listener under the name in `server`, and no listener is created.
    /// It must outlive the job.
    net::Listener* listener = nullptr;
    /// Optional. Records what viewers receive to this .fwd file; `:key=SECONDS` after the path sets the keyframe
    /// interval. Empty: no recording.
    std::string record{};
    /// Credentials for the upstream server if this stream is relayed.
    net::ClientOptions upstream{};
    /// Number of threads that pack delta frames in parallel. 0: half of the filters' threads, at least 1 and at most 8.
    int packing_threads = 0;
    /// The first frame waits for this many viewers, and the second one until these viewers have received the first.
    int wait_for_viewers = 0;
    /// If true, frames of a source that is not live are sent as soon as they are available.
    bool hurries = false;
    /// Optional. Finds objects in frames as captured; viewers draw them where the filters have moved them.
    std::optional<DetectorOptions> detector{};
    /// Optional. Receives the objects that the detector found in each frame that is sent. It must outlive the job.
    SeenObjects* seen = nullptr;
    /// Optional. Called when a viewer's control request is in force and before the viewer is answered, to persist it.
    std::function<void()> keep_orders{};
    /// Initial privacy masks and detection areas, see BroadcastJob::set_zones(). Scaled if frames have another size.
    LiveZones zones{};
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
    /// True if BroadcastJob::end_here() ended the job. Viewers were disconnected as for a new size.
    bool ended_for_orders = false;
    /// If the stream continues in another job, holds the error that ended the recording; null if writing succeeded.
    std::exception_ptr recording_failure{};
};

/// Current state of a broadcast, as the API and the page show it.
struct BroadcastStanding {
    /// Shapes of frames as captured and as sent.
    Shape source_shape{}, shape{};
    /// Nominal frames per second.
    Rational rate{30, 1};
    /// True while frames arrive; false while the source is lost or has not yet delivered a frame.
    bool up = false;
    /// Number of times that the source was lost and came back.
    std::int64_t reconnects = 0;
    delta::Mode mode = delta::Mode::exact;
    /// Least threshold in force, and the bound that was signalled to viewers.
    int threshold = 0, threshold_max = 0;
    Controls controls{};
};

/// Sends one source through filters to any number of viewers as a difference stream.
///
/// run() captures, filters, encodes and sends until the source ends, a stop is requested or end_here() is called. A job
/// runs once. Functions below that are documented as callable from any thread may be called while run() works on
/// another one.
class BroadcastJob {
public:
    /// Opens the source, then everything else, cheap checks first, and listens from then on. Throws as FrameJob,
    /// StreamEncoder, delta::RateControl, make_detector(), fwd::Recorder, net::Server and refresh_seconds_of() do, and
    /// Error{usage} if a rate limit is combined with the lossless mode.
    explicit BroadcastJob(const BroadcastOptions& options);
    ~BroadcastJob();

    /// Address at which viewers find the stream.
    const net::StreamAddress& address() const;
    /// Describes the source as opened. Constant while the job runs.
    const SourceInfo& source() const;
    /// Returns the source for InputOptions::opened of a job that continues where this one ended.
    std::shared_ptr<OpenedSource> opened() const;
    /// Returns the picture controls (brightness, contrast, saturation, gain). From any thread.
    CameraPanel& panel();
    /// Returns the state of the picture controls and filter switches, as FilteredInput::controls() does. From any
    /// thread.
    /// Carries out one control request, as FilteredInput::control() does. Requests of viewers are parsed by
    /// parse_control(). From any thread.
    Controls controls() const;
    void control(const ControlOrder& order);

    // Queries and control requests while the job runs; from any thread.

    /// Returns a snapshot of the job's current state.
    BroadcastStanding standing() const;
    /// Returns the traffic to viewers of this stream so far.
    net::StreamMetrics viewers() const;
    /// Version of the picture that viewers see; 0 before the first frame.
    std::uint64_t picture_version() const;
    /// Oldest version that may still be shown: older ones were withdrawn by a request that hides parts of the picture.
    std::uint64_t oldest_picture_version() const;
    /// Copies the picture that viewers see to `to`, a view of standing().shape, and returns its version.
    std::uint64_t copy_picture(HostView<std::uint8_t> to) const;
    /// Replaces the filter chain, as FilteredInput::take_chain() does.
    bool take_chain(const std::string& chain);
    /// Sets the least threshold from the next frame on. Returns false and changes nothing if it exceeds the bound that
    /// was signalled to viewers.
    bool set_threshold(int threshold);
    /// Sets privacy masks and detection areas from the next frame on. Masks are applied before filters, detection and
    /// encoding. Throws as check_zones() does.
    void set_zones(const std::vector<LiveZone>& zones);
    /// Returns a ticket that is completed when all requests taken so far are in force in what viewers see.
    OrderTicket ticket() const;
    /// Returns a ticket that is completed when the first frame of this job was sent.
    OrderTicket first_frame() const;
    /// Returns a ticket that is completed when this job has ended.
    OrderTicket next_job() const;
    /// Ends the stream after the frames in flight, so that another job can continue with other options.
    void end_here();
    /// Starts a recording with the next frame, stored as a keyframe. Throws Error{usage} if a recording that was
    /// started this way is in progress, and as fwd::Recorder does.
    void start_recording(const std::string& path);
    /// Completes that recording. Throws Error{usage} if there is none, and the error if writing failed.
    void stop_recording();
    /// Returns the state of that recording. Empty if there is none or if writing failed.
    std::optional<LiveRecordingState> recording() const;

    /// Runs the job; may be called once. If anything fails, viewers are informed and outputs completed before the first
    /// error is thrown; a failed recording is reported only at the end. Throws Error{no_input} if the source has no
    /// frames.
    const BroadcastResult& run();
    /// Result of run(), valid even if it threw.
    const BroadcastResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
