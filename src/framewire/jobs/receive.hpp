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

/// Picture of the bytes in which a stream's newest state differs from the one drawn before (the last stage of the
/// streaming report, section 5.0.6). It compares the pictures themselves, so it does not matter how an update was
/// transmitted. The first picture counts as unchanged. For one thread.
class ChangesPicture {
public:
    /// Mask and overlay look as in the noise filter. `shape` is the stream's; `threads` limits the CPU threads, 0: all.
    ChangesPicture(ChangesKind kind, const Shape& shape, int threads);

    /// Shape of the result: the stream's size with 3 channels.
    const Shape& shape() const { return picture_.shape(); }
    /// Draws the changes of the client's newest picture. The result is valid until the next call.
    HostView<const std::uint8_t> draw(const net::Client& client);

private:
    void find_changes(HostView<const std::uint8_t> now);

    Executor executor_;
    codec::HostChanges changes_;
    // picture drawn last; empty before the first
    HostImage before_;
    HostImage picture_;
    // used for mask and overlay
    std::unique_ptr<NoiseFromChanges> noise_;
    std::unique_ptr<HeatmapFromChanges> heat_;
};

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
    ThresholdStatistics thresholds{};
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
/// keyframes, delta_frames, skipped, changed (fraction of the bytes that a delta frame changes), version, frame and
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
    std::optional<service::Controls> controls() const;
    /// Sends a control request; from any thread. Throws Error{usage} if the server accepts none.
    void control(const service::ControlRequest& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Frame times for a recording of a stream. They start at 0 and always increase: if the stream's own times go back, as
/// after a restart of the server, or jump by more than an hour, they continue with the nominal frame duration. For one
/// thread.
class RecordingTime {
public:
    /// `rate` is the stream's nominal rate.
    explicit RecordingTime(Rational rate) : frame_seconds_(std::min(1 / rate.value(), longest_gap_seconds)) {}

    /// Returns time and number of the next frame, which has the stream's time `stream_seconds`.
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
