#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/wire/wire.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/pipeline/statistics/threshold_tally.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/options.hpp"
#include "framewire/session/receive/changes_kind.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

/// Options of a ReceiveJob.
struct ReceiveOptions {
    JobOptions job{};
    /// tcp://HOST:PORT or tcp://HOST:PORT/NAME; tls, ws and wss as well.
    std::string url{};
    net::ClientOptions client{};
    /// Optional. Sink for a recording, see open_sink().
    std::string recording{};
    /// How the recording is split into segments.
    SegmentOptions segments{};
    /// Optional. Show the changes instead of the picture.
    std::optional<ChangesKind> changes{};
    /// If true, objects that the server detects are outlined.
    bool boxes = true;
    /// Optional. Called once the stream is connected, before the recording is opened, with the shape of the pictures as
    /// shown. Exceptions end the constructor.
    std::function<void(const net::StreamInfo& stream, const Shape& shown)> on_stream{};
    /// Optional. Called on the thread of run() with each picture, which is valid during the call.
    std::function<void(HostView<const std::uint8_t> picture)> on_picture{};
    /// Optional. Called after the last picture. An exception fails the job, and the recording is truncated.
    std::function<void()> on_end{};
};

/// Returns the files that these options read and write.
JobFiles files_of(const ReceiveOptions& options);

/// Outcome of a ReceiveJob.
struct ReceiveResult {
    net::StreamInfo stream{};
    StatisticsSnapshot figures{};
    net::ClientCounts counts{};
    /// State of the last picture.
    net::StateHeader state{};
    /// Bound of the last picture.
    int threshold = 0;
    /// Thresholds of the delta frames; of the last picture if there was none.
    ThresholdFigures thresholds{};
    Ending ending = Ending::complete;
};

/// State of a stream while it is received.
struct ReceiveState {
    /// Description sent by the server.
    net::StreamInfo stream{};
    /// Why there are no pictures, while a lost stream is being reconnected; else empty.
    std::string lost{};
    /// State of the newest picture.
    net::StateHeader state{};
    /// Bound of the newest picture.
    int threshold = 0;
    /// Camera frames shown so far; refinements of a frame do not count again.
    std::int64_t frames = 0;
    /// Fraction of the bytes that the newest frame changed; refinements do not count.
    double changed = 0;
    /// Latency from the camera to the newest picture, if the server sends its clock.
    std::optional<double> latency_ms{};
    net::ClientCounts counts{};
};

/// Returns the result as JSON, for the statistics file: source, size, mode, threshold (the bound of the stream),
/// threshold_in_force (of the last picture, and min, mean and max), frames, seconds, fps, raw_bytes, received_bytes,
/// pictures, steps, skipped, changed (fraction of the bytes that a delta frame changes), version, frame and
/// reconnections.
std::string to_json(const ReceiveResult& result);

/// Receives a stream from a server and shows it, records it, or both. A job runs once.
class ReceiveJob {
public:
    /// Connects, then opens the recording. Throws as Job, parse_stream_address(), net::Client and open_sink() do.
    explicit ReceiveJob(const ReceiveOptions& options);
    ~ReceiveJob();

    /// Description of the stream.
    const net::StreamInfo& stream() const;

    /// Receives until the stream ends; may be called once. If anything fails, the recording is completed before the
    /// error is thrown. Throws Error{source_lost} if there was no picture.
    const ReceiveResult& run();
    /// Result of run(), valid even if it threw.
    const ReceiveResult& result() const;
    /// Statistics of the run in progress; from any thread.
    const Statistics& statistics() const;
    /// Current state of the stream; from any thread.
    ReceiveState state() const;
    /// State of the server's controls; empty if it accepts no control requests from this viewer. From any thread.
    std::optional<Controls> controls() const;
    /// Sends a control request; from any thread. Throws Error{usage} if the server accepts none.
    void control(const ControlOrder& order);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
