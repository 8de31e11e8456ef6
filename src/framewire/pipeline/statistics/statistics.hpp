#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/statistics/rate_meter.hpp"
#include "framewire/pipeline/statistics/step_times.hpp"
#include "framewire/pipeline/statistics/threshold_tally.hpp"
#include "framewire/pipeline/statistics/time_histogram.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The three stages of the circle. What process takes is its own time and that of the wait for it.
enum class Stage { read, process, send };

/// How well the difference stream did; there only where one ran.
struct DeltaFigures {
    /// What the report's format would have sent: 5 bytes for each changed byte, and the first picture as it is.
    std::int64_t report_bytes = 0;
    double changed = 0;          ///< share of all bytes that changed, 0..1
    int max_error = 0;           ///< largest difference of a viewer's byte from the camera's
    std::optional<double> psnr;  ///< of the viewer's picture against the camera, in dB; empty when they are equal
};

/// What the steps of the difference stream took while somebody watched, for each viewer; there only then.
struct RateFigures {
    ThresholdFigures threshold;           ///< in force
    double mean_bits_per_second = 0;      ///< by the frames' own times
    double most_bits_per_second = 0;      ///< of the busiest second
    std::optional<double> max_bitrate{};  ///< what they were to take at most
    std::int64_t over = 0;                ///< steps that took more even within the greatest threshold
};

/// All figures of a run at one moment.
struct StatisticsSnapshot {
    std::int64_t frames = 0;  ///< sent
    std::int64_t drops = 0;   ///< captured, but too late to be processed
    double seconds = 0;       ///< from start() to the last frame sent
    double fps = 0;           ///< frames over seconds
    TimeSummary read_ms, process_ms, send_ms;
    std::array<TimeBuckets, 3> stages{};  ///< the same times, by Stage
    std::int64_t raw_bytes = 0;           ///< of the frames sent, as raw pixels
    std::int64_t sent_bytes = 0;          ///< put out
    std::optional<DeltaFigures> delta;
    std::optional<RateFigures> rate{};
    std::vector<StepSummary> steps;  ///< where they are timed: read, what filters and stages do, transfers, send
};

/// Gathers a run's figures, in bounded memory and without allocating. Thread-safe.
class Statistics {
public:
    /// The moment from which seconds count; the circle calls it. Of runs that go on with the figures of another it is
    /// the first one's.
    void start();
    void record(Stage stage, double ms);
    /// From now on steps are gathered: reading and sending, and what record_step() is told of. It allocates when a name
    /// comes first.
    void time_steps();
    void record_step(std::string_view name, double ms);
    void count_frame(std::int64_t raw_bytes);
    /// Of frames that differ in size, beside count_frame(0).
    void add_raw_bytes(std::int64_t bytes);
    void count_drop();
    /// Bytes put out since the start, all told.
    void set_sent_bytes(std::int64_t total);
    /// A difference stream's first picture, which is sent whole.
    void add_first_picture(std::int64_t frame_bytes);
    /// What the difference encoder found in one frame of `frame_bytes` bytes.
    void add_delta(const delta::Summary& summary, std::int64_t frame_bytes);
    /// What the step to the frame at `seconds`, within `threshold`, took; 0 while nobody watches.
    void add_step(double seconds, int threshold, std::int64_t bytes);
    /// Of a stream whose steps are to take no more than so much: how many took more within the greatest threshold.
    void set_rate_limit(double max_bitrate, std::int64_t over);

    StatisticsSnapshot snapshot() const;

private:
    mutable std::mutex mutex_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_frame_ = start_;
    std::array<TimeHistogram, 3> times_;
    std::optional<StepTimes> steps_;  // where they are timed
    std::int64_t frames_ = 0, drops_ = 0, raw_bytes_ = 0, sent_bytes_ = 0;
    std::int64_t delta_bytes_ = 0, first_picture_bytes_ = 0, changed_bytes_ = 0;
    std::uint32_t max_error_ = 0;
    double squared_error_ = 0;
    ThresholdTally thresholds_;
    RateMeter rate_;
    std::optional<double> max_bitrate_;
    std::int64_t over_ = 0;
};

/// What a run was, for its statistics.
struct RunDescription {
    std::string source;
    std::string backend;
    Shape size{};                         ///< of the frames sent
    std::vector<ChainFigures> filters{};  ///< what the filters found in the last frame
    std::int64_t damaged = 0;             ///< of the source, as Source::damaged() counts
};

/// The figures as JSON: frames, drops, seconds, fps, read_ms, process_ms and send_ms (each mean, median, p99, min and
/// max),
/// raw_bytes, sent_bytes, backend, source, size, and with a difference stream report_bytes, changed, max_error and psnr
/// (null when the pictures are equal), once somebody watched it `threshold` (min, mean and max) and `bits_per_second`
/// (mean and max), where those were limited max_bitrate and over, where steps are timed `steps`, and where filters
/// found something an object each in `filters`: its `filter` and its figures by name. Of a damaged source there is
/// `damaged`, a count.
std::string to_json(const StatisticsSnapshot& snapshot, const RunDescription& run);

}  // namespace framewire
