#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/noise.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/wire.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/service/control.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::jobs {

/// How changes are displayed: as a mask (red on black), as an overlay (red over the picture), or as a heatmap of their
/// size.
enum class ChangesKind { mask, overlay, heat };

/// Parses "mask", "overlay" or "heat". Throws Error{usage} for anything else.
ChangesKind parse_changes(std::string_view text);

/// Draws the bytes in which a stream's newest state differs from the state drawn before (the last stage of the
/// streaming report, section 5.0.6). It compares the pictures themselves, so the result does not depend on how an
/// update was transmitted. The first picture counts as unchanged. Not thread-safe.
class ChangesPicture {
public:
    /// Mask and overlay look as in the noise filter. `shape` is that of the stream; `threads` limits the CPU threads,
    /// 0: no limit.
    ChangesPicture(ChangesKind kind, const Shape& shape, int threads);

    /// Returns the shape of the result: the stream's size with 3 channels.
    const Shape& shape() const { return picture_.shape(); }
    /// Draws the changes in the client's newest picture. The result is valid until the next call.
    HostView<const std::uint8_t> draw(const net::Client& client);

private:
    void find_changes(HostView<const std::uint8_t> now);

    Executor executor_;
    codec::HostChanges changes_;
    // picture that was drawn last; empty before the first one
    HostImage before_;
    HostImage picture_;
    // used for mask and overlay
    std::unique_ptr<NoiseFromChanges> noise_;
    std::unique_ptr<HeatmapFromChanges> heat_;
};

/// Options of a ReceiveJob.
struct ReceiveOptions {
    JobOptions job{};
    /// Address of the stream: tcp://HOST:PORT or tcp://HOST:PORT/NAME, or the same with tls, ws or wss.
    std::string url{};
    net::ClientOptions client{};
    /// Optional. Sink to which the stream is recorded, see open_sink().
    std::string recording{};
    /// How the recording is split into segments.
    SegmentOptions segments{};
    /// Optional. If set, the changes are shown instead of the picture.
    std::optional<ChangesKind> changes{};
    /// If true, objects that the server detects are outlined.
    bool boxes = true;
    /// Optional. Called once the stream is connected, before the recording is opened. `shown` is the shape of the
    /// displayed pictures. An exception ends the constructor.
    std::function<void(const net::StreamInfo& stream, const Shape& shown)> on_stream{};
    /// Optional. Called on the thread of run() with each picture, which is valid only during the call.
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
    /// State header of the last picture.
    net::StateHeader state{};
    /// Bound of the last picture.
    int threshold = 0;
    /// Thresholds of the delta frames. Without any delta frame, the threshold of the last picture.
    ThresholdStatistics thresholds{};
    Ending ending = Ending::complete;
};

/// State of a stream that is being received.
struct ReceiveState {
    /// Description of the stream, as sent by the server.
    net::StreamInfo stream{};
    /// Reason why no pictures arrive while a lost stream is being reconnected; empty otherwise.
    std::string lost{};
    /// State header of the newest picture.
    net::StateHeader state{};
    /// Bound of the newest picture.
    int threshold = 0;
    /// Number of camera frames shown so far; refinements of a frame are not counted again.
    std::int64_t frames = 0;
    /// Fraction of the bytes that changed with the newest frame; refinements are not counted.
    double changed = 0;
    /// Latency from the camera to the newest picture, if the server sends its clock.
    std::optional<double> latency_ms{};
    net::ClientCounts counts{};
};

/// Returns the result as JSON for the statistics file: source, size, mode, threshold (the bound of the stream),
/// threshold_in_force (that of the last picture, with min, mean and max), frames, seconds, fps, raw_bytes,
/// received_bytes, keyframes, delta_frames, skipped, changed (the fraction of bytes that a delta frame changes),
/// version, frame and reconnections.
std::string to_json(const ReceiveResult& result);

/// Receives a stream from a server and shows it, records it, or does both. A job runs once.
class ReceiveJob {
public:
    /// Connects, then opens the recording. Throws as Job, parse_stream_address(), net::Client and open_sink() do.
    explicit ReceiveJob(const ReceiveOptions& options);
    ~ReceiveJob();

    /// Returns the description of the stream.
    const net::StreamInfo& stream() const;

    /// Receives until the stream ends; may be called once. After an error, the recording is completed before the error
    /// is thrown. Throws Error{source_lost} if no picture was received.
    const ReceiveResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const ReceiveResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;
    /// Returns the current state of the stream. Callable from any thread.
    ReceiveState state() const;
    /// Returns the state of the server's controls; empty if the server accepts no control requests from this viewer.
    /// Callable from any thread.
    std::optional<service::Controls> controls() const;
    /// Sends a control request. Callable from any thread. Throws Error{usage} if the server accepts none.
    void control(const service::ControlRequest& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Computes the frame times of a stream's recording. They start at 0 and always increase: if the stream's own times go
/// back, for example after a restart of the server, or jump by more than an hour, the recording continues with the
/// nominal frame duration. Not thread-safe.
class RecordingTime {
public:
    /// `rate` is the stream's nominal rate.
    explicit RecordingTime(Rational rate) : frame_seconds_(std::min(1 / rate.value(), longest_gap_seconds)) {}

    /// Returns time and number of the next frame, whose time in the stream is `stream_seconds`.
    FrameTime next(double stream_seconds) {
        if (index_ == 0)
            offset_ = stream_seconds;
        else if (const double step = stream_seconds - offset_ - seconds_; step <= 0 || step > longest_gap_seconds)
            offset_ = stream_seconds - seconds_ - frame_seconds_;
        seconds_ = stream_seconds - offset_;
        return {index_++, seconds_, Clock::now()};
    }

private:
    static constexpr double longest_gap_seconds = 3600;

    // nominal duration of a frame
    double frame_seconds_;
    double offset_ = 0, seconds_ = 0;
    std::int64_t index_ = 0;
};

}  // namespace framewire::jobs
