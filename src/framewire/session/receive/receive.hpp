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

struct ReceiveOptions {
    JobOptions job{};
    std::string url{};  ///< tcp://HOST:PORT or tcp://HOST:PORT/NAME
    net::ClientOptions client{};
    std::string recording{};               ///< see open_sink(); empty: none wanted
    SegmentOptions segments{};             ///< of a recording in pieces
    std::optional<ChangesKind> changes{};  ///< pictures of what changed instead
    bool boxes = true;                     ///< around what the server detects
    /// Called once the stream is there, with the shape of its pictures as they are shown, before the recording is
    /// opened. What it throws is thrown on.
    std::function<void(const net::StreamInfo& stream, const Shape& shown)> on_stream{};
    /// Called with each picture, which holds until it returns, on the thread of run().
    std::function<void(HostView<const std::uint8_t> picture)> on_picture{};
    /// Called after the last one. What it throws is a failure of the job, whose recording is broken off then.
    std::function<void()> on_end{};
};

/// What these options read and write.
JobFiles files_of(const ReceiveOptions& options);

struct ReceiveResult {
    net::StreamInfo stream{};
    StatisticsSnapshot figures{};
    net::ClientCounts counts{};
    net::StateHeader state{};       ///< of the last picture
    int threshold = 0;              ///< what that is within
    ThresholdFigures thresholds{};  ///< those of the steps; of the last picture where there was none
    Ending ending = Ending::complete;
};

/// How a stream stands while it is received.
struct ReceiveState {
    net::StreamInfo stream{};            ///< what the server said of it
    std::string lost{};                  ///< why nothing comes, while a lost stream is tried to be had again
    net::StateHeader state{};            ///< of the newest picture
    int threshold = 0;                   ///< what that is within
    std::int64_t frames = 0;             ///< pictures shown so far, each frame of the camera once
    double changed = 0;                  ///< share of its bytes that the newest frame changed; refinements do not count
    std::optional<double> latency_ms{};  ///< from the camera to the newest picture, where the server tells the time
    net::ClientCounts counts{};
};

/// For the file of the statistics: source, size, mode, threshold (the greatest there may be), threshold_in_force (of
/// the last picture, and min, mean and max), frames, seconds, fps, raw_bytes, received_bytes,
/// pictures, steps, skipped, changed (share of the bytes that a step has), version, frame and reconnections.
std::string to_json(const ReceiveResult& result);

/// From a server to whoever looks at the pictures, a recording, or both. For one run.
class ReceiveJob {
public:
    /// Connects, and opens the recording last. Throws as Job, parse_stream_address(), net::Client and open_sink() do.
    explicit ReceiveJob(const ReceiveOptions& options);
    ~ReceiveJob();

    const net::StreamInfo& stream() const;

    /// To be called once; returns when the stream ends. Throws what failed on the way, after the recording was
    /// completed; Error{source_lost} where there was no picture.
    const ReceiveResult& run();
    /// Of run(), when it threw, too.
    const ReceiveResult& result() const;
    /// Of the run as it goes; from any thread.
    const Statistics& statistics() const;
    /// How it stands; from any thread.
    ReceiveState state() const;
    /// The server's panel, where it takes orders; from any thread.
    std::optional<Controls> controls() const;
    /// Sends it an order. Throws Error{usage} where it takes none.
    void control(const ControlOrder& order);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
