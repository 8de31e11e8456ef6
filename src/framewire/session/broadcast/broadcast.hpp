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

struct BroadcastOptions {
    JobOptions job{};
    InputOptions input{};  ///< filters show its public_name(), as viewers are told it
    delta::EncoderParameters encoder{};
    /// What the steps of one viewer may take by the frames' own times: the encoder's threshold is then the least in
    /// force. Whole pictures, which viewers get first or when they are behind, come on top.
    std::optional<delta::RateLimits> rate{};
    /// Blocks that rest for so many seconds are sharpened (delta::RestSharpener); 0: none are. Where nothing is said,
    /// 1, but 0 where there is a recording.
    std::optional<double> refresh_seconds{};
    net::ServerOptions server{};
    /// Where it is served under the name of `server`, in place of a listener of its own; lives longer.
    net::Listener* listener = nullptr;
    std::string record{};           ///< a .fwd file of what viewers get, `:key=SECONDS` behind it; empty: none
    net::ClientOptions upstream{};  ///< of a stream that is forwarded: what lets this in there
    int packing_threads = 0;        ///< that pack steps at once; 0: half of those of the filters, up to 8
    int wait_for_viewers = 0;       ///< the first frame waits for so many, and the second until they have the first
    bool hurries = false;           ///< frames that do not come live are sent as soon as they are there
    std::optional<DetectorOptions>
        detector{};               ///< finds objects in frames as captured; viewers draw them where filters took them
    SeenObjects* seen = nullptr;  ///< is told what the detector found, of each frame that is sent; lives longer
    std::function<void()> keep_orders{};  ///< called when a viewer's request is in force, before it is answered
    LiveZones zones{};  ///< see BroadcastJob::set_zones(); where frames are of another size, scaled to it
};

/// What these options read and write.
JobFiles files_of(const BroadcastOptions& options);

struct BroadcastResult : JobResult {
    net::ServerMetrics viewers{};  ///< of a listener of its own, or of the stream
    int viewers_left = 0;          ///< who did not take the end of the stream in time
    /// The source goes on with frames of another size, for a job of its own: viewers were cut off, to come back.
    bool ended_at_new_size = false;
    /// BroadcastJob::end_here() was called: likewise.
    bool ended_for_orders = false;
    /// What writing the recording failed with, where the stream goes on in another job; null: nothing.
    std::exception_ptr recording_failure{};
};

/// How a broadcast stands.
struct BroadcastStanding {
    Shape source_shape{}, shape{};  ///< of frames as captured, and as sent
    Rational rate{30, 1};
    bool up = false;  ///< frames come; else the source is away, or not there yet
    std::int64_t reconnects = 0;
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0, threshold_max = 0;  ///< the least in force, and what viewers know the stream to be within
    Controls controls{};
};

/// From a source through filters to any number of viewers, as a difference stream. For one run.
class BroadcastJob {
public:
    /// Opens all there is, what is cheap to refuse first, and listens from then on. Throws as FrameJob, StreamEncoder,
    /// delta::RateControl, make_detector(), fwd::Recorder and net::Server do, and Error{usage} on a rate of the mode
    /// lossless, and where refresh_seconds_of() does.
    explicit BroadcastJob(const BroadcastOptions& options);
    ~BroadcastJob();

    /// Where viewers find the stream.
    const net::StreamAddress& address() const;
    const SourceInfo& source() const;
    /// For InputOptions::opened of the job that goes on where this one ended.
    std::shared_ptr<OpenedSource> opened() const;
    /// Brightness and its like while frames flow; from any thread.
    CameraPanel& panel();
    /// As FilteredInput's, for viewers that may; orders of theirs are read by parse_control().
    Controls controls() const;
    void control(const ControlOrder& order);

    // For whoever asks and orders while it runs, from any thread.

    BroadcastStanding standing() const;
    net::StreamMetrics viewers() const;
    /// Of the picture that viewers see; 0 before the first.
    std::uint64_t picture_version() const;
    /// The oldest version that may still be shown to anybody.
    std::uint64_t oldest_picture_version() const;
    /// Copies that picture, of standing().shape, and gives its version.
    std::uint64_t copy_picture(HostView<std::uint8_t> to) const;
    /// As FilteredInput's.
    bool take_chain(const std::string& chain);
    /// The least threshold from the next frame on; false, with nothing changed, where viewers were told of a lower one.
    bool set_threshold(int threshold);
    /// Hides parts of frames to come before anything else is done with them, and says where objects count. Throws as
    /// check_zones() does.
    void set_zones(const std::vector<LiveZone>& zones);
    /// For whoever waits until what was ordered so far is in force in what viewers see.
    OrderTicket ticket() const;
    /// For whoever waits until this job's first frame was sent.
    OrderTicket first_frame() const;
    /// For whoever waits until this job has ended.
    OrderTicket next_job() const;
    /// Ends the stream after the frames that are under way, for a job that goes on with other options.
    void end_here();
    /// Records from the next frame on, whose first picture is whole. Throws Error{usage} while it is recorded, and as
    /// fwd::Recorder does.
    void start_recording(const std::string& path);
    /// Throws Error{usage} where nothing is recorded, and what writing failed with.
    void stop_recording();
    /// None: it is not recorded so, or that has failed.
    std::optional<LiveRecordingState> recording() const;

    /// To be called once. Throws what failed on the way, after the viewers were told, but what failed of the recording
    /// only at the end; Error{no_input} where the source
    /// has no frames.
    const BroadcastResult& run();
    /// Of run(), when it threw, too.
    const BroadcastResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
