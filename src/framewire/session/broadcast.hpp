#pragma once

#include "framewire/delta/delta.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/pipeline/chain/camera_panel.hpp"
#include "framewire/pipeline/frames/stream_encoder.hpp"
#include "framewire/session/detector.hpp"
#include "framewire/session/input/filtered_input.hpp"
#include "framewire/session/job/frame_job.hpp"
#include "framewire/session/options.hpp"

#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

struct BroadcastOptions {
    JobOptions job{};
    InputOptions input{};  ///< filters show its public_name(), as viewers are told it
    delta::EncoderParameters encoder{};
    net::ServerOptions server{};
    int wait_for_viewers = 0;                   ///< the first frame waits for so many
    bool hurries = false;                       ///< frames that do not come live are sent as soon as they are there
    std::optional<DetectorOptions> detector{};  ///< finds objects in frames as captured, for viewers to draw
};

/// What these options read and write.
JobFiles files_of(const BroadcastOptions& options);

struct BroadcastResult : JobResult {
    net::ServerMetrics viewers{};
    int viewers_left = 0;  ///< who did not take the end of the stream in time
};

/// From a source through filters to any number of viewers, as a difference stream. For one run.
class BroadcastJob {
public:
    /// Opens all there is, what is cheap to refuse first, and listens from then on. Throws as FrameJob, StreamEncoder,
    /// make_detector() and net::Server do.
    explicit BroadcastJob(const BroadcastOptions& options);

    /// Where viewers find the stream.
    const net::StreamAddress& address() const { return server_.address(); }
    const SourceInfo& source() const { return job_.input().info(); }
    /// Brightness and its like while frames flow; from any thread.
    CameraPanel& panel() { return job_.input().panel(); }

    /// To be called once. Throws what failed on the way, after the viewers were told; Error{no_input} where the source
    /// has no frames.
    const BroadcastResult& run();
    /// Of run(), when it threw, too.
    const BroadcastResult& result() const { return result_; }
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const { return job_.statistics(); }

private:
    // What changed in a frame, and what moves in it.
    struct Found {
        FrameChanges changes;
        FrameObjects objects;
        bool has_objects;

        void wait() {
            changes.wait();
            if (has_objects) objects.wait();
        }
    };

    net::StreamInfo stream_info() const;
    Found make_found();
    void start(InputFrame& frame, Found& found);
    void send(const FrameTime& time, const Found& found);
    void finish(const FirstFailure& failure);

    int wait_for_viewers_;
    bool hurries_;
    FrameJob<FilteredInput> job_;
    StreamEncoder encoder_;
    std::unique_ptr<FrameDetector> detector_;
    net::StreamState state_;
    net::Server server_;
    BroadcastResult result_;
};

}  // namespace framewire::session
