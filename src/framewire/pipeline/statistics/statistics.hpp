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

/// The three stages of the frame ring. The time of `process` includes the wait for its work.
enum class Stage { read, process, send };

/// Results of the difference stream; only if one ran.
struct DeltaFigures {
    /// Bytes in the report's format: 5 per changed byte, and the first keyframe as raw pixels.
    std::int64_t report_bytes = 0;
    double changed = 0;          ///< share of all bytes that changed, 0 to 1
    int max_error = 0;           ///< largest difference of a viewer's byte from the camera's
    std::optional<double> psnr;  ///< of the viewer's picture against the camera, in dB; empty if they are equal
};

/// Rates of the delta frames sent while someone watched, per viewer; only if someone did.
struct RateFigures {
    ThresholdFigures threshold;           ///< thresholds in force
    double mean_bits_per_second = 0;      ///< over the frames' own times
    double most_bits_per_second = 0;      ///< in the busiest second
    std::optional<double> max_bitrate{};  ///< limit, if there is one
    std::int64_t over = 0;                ///< delta frames above the limit even with the largest threshold
};

/// All statistics of a run at one moment.
struct StatisticsSnapshot {
    std::int64_t frames = 0;  ///< frames sent
    std::int64_t drops = 0;   ///< frames captured, but too late to be processed
    double seconds = 0;       ///< from start() to the last frame sent
    double fps = 0;           ///< frames per second
    TimeSummary read_ms, process_ms, send_ms;
    std::array<TimeBuckets, 3> stages{};  ///< the same times as buckets, indexed by Stage
    std::int64_t raw_bytes = 0;           ///< size of the frames sent as raw pixels
    std::int64_t sent_bytes = 0;          ///< bytes written
    std::optional<DeltaFigures> delta;
    std::optional<RateFigures> rate{};
    std::vector<StepSummary> steps;  ///< if timed: read, filters and stages, transfers, send
};

/// Collects the statistics of a run in bounded memory, without allocating. Thread-safe.
class Statistics {
public:
    /// Sets the moment from which seconds count; the frame ring calls it. If several runs share the object, the
    /// first one's counts.
    void start();
    /// Adds the time of one stage for one frame.
    void record(Stage stage, double ms);
    /// Turns on the collection of steps: reading, sending, and the calls of record_step(). Allocates when a
    /// name is new.
    void time_steps();
    /// Adds the time of one step, if steps are collected.
    void record_step(std::string_view name, double ms);
    /// Counts a sent frame of `raw_bytes` bytes.
    void count_frame(std::int64_t raw_bytes);
    /// Adds raw bytes for frames of varying size, in addition to count_frame(0).
    void add_raw_bytes(std::int64_t bytes);
    /// Counts a dropped frame.
    void count_drop();
    /// Sets the total of bytes written since the start.
    void set_sent_bytes(std::int64_t total);
    /// Adds the first keyframe of a difference stream, which is sent completely.
    void add_first_picture(std::int64_t frame_bytes);
    /// Adds what the difference encoder found in one frame of `frame_bytes` bytes.
    void add_delta(const delta::Summary& summary, std::int64_t frame_bytes);
    /// Adds the size of the delta frame at `seconds`, made with `threshold`; 0 while nobody watches.
    void add_step(double seconds, int threshold, std::int64_t bytes);
    /// Sets the rate limit of a stream's delta frames, and how many exceeded it even with the largest
    /// threshold.
    void set_rate_limit(double max_bitrate, std::int64_t over);

    /// Returns a consistent copy of all statistics.
    StatisticsSnapshot snapshot() const;

private:
    mutable std::mutex mutex_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_frame_ = start_;
    std::array<TimeHistogram, 3> times_;
    std::optional<StepTimes> steps_;  // if steps are collected
    std::int64_t frames_ = 0, drops_ = 0, raw_bytes_ = 0, sent_bytes_ = 0;
    std::int64_t delta_bytes_ = 0, first_picture_bytes_ = 0, changed_bytes_ = 0;
    std::uint32_t max_error_ = 0;
    double squared_error_ = 0;
    ThresholdTally thresholds_;
    RateMeter rate_;
    std::optional<double> max_bitrate_;
    std::int64_t over_ = 0;
};

/// Description of a run, for its statistics.
struct RunDescription {
    std::string source;
    std::string backend;
    Shape size{};                         ///< of the frames sent
    std::vector<ChainFigures> filters{};  ///< results of the filters for the last frame
    std::int64_t damaged = 0;             ///< of the source, see Source::damaged()
};

/// Returns the statistics as JSON: frames, drops, seconds, fps, read_ms, process_ms and send_ms (each with
/// mean, median, p99, min and max), raw_bytes, sent_bytes, backend, source and size. Depending on the run also
/// - with a difference stream: report_bytes, changed, max_error and psnr (null if the pictures are equal);
/// - once someone watched it: `threshold` (min, mean, max) and `bits_per_second` (mean, max), and if the rate was
///   limited, max_bitrate and over;
/// - if steps are timed: `steps`;
/// - if filters have results: `filters`, an array of objects with `filter` and the results by name;
/// - if the source is damaged: `damaged`, a count.
std::string to_json(const StatisticsSnapshot& snapshot, const RunDescription& run);

}  // namespace framewire
