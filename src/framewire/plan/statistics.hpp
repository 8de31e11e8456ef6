#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/plan/chain_plan.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {

/// Measures the output rate over the frames' own times: the mean rate, and the rate of the busiest second. Uses bounded
/// memory. Not thread-safe.
class RateMeter {
public:
    /// Adds the `bytes` of the frame at time `seconds`. A frame with an implausible time counts as following its
    /// predecessor after the last valid gap.
    void add(double seconds, std::int64_t bytes);
    /// Pauses the measurement. The time until the next add() does not count.
    void pause() { runs_ = false; }

    /// Returns the mean rate over all frames added.
    double mean_bits_per_second() const;
    /// Returns the highest rate of any second, at a resolution of 10 ms.
    double most_bits_per_second() const { return 8.0 * static_cast<double>(most_); }

private:
    void forget_until(std::int64_t bin);

    static constexpr int bins_per_second = 100;

    bool runs_ = false;
    double last_ = 0, gap_ = 1.0 / 30, elapsed_ = 0;
    std::int64_t count_ = 0, total_ = 0;
    std::array<std::int64_t, bins_per_second> bins_{};  // bytes per bin of the last second
    std::int64_t bin_ = 0, in_window_ = 0, most_ = 0;
};

/// Times of one processing step over all frames.
struct StepSummary {
    std::string name;
    std::int64_t count = 0;
    double min_ms = 0, mean_ms = 0, max_ms = 0;
    double share = 0;  ///< fraction of the total time of all steps, 0 to 1
};

/// Collects the times of steps by name. Not thread-safe.
class StepTimes {
public:
    /// Adds a time in milliseconds. Negative times and NaN count as 0.
    void add(std::string_view name, double ms);
    /// Returns the steps in the order of their first appearance, but with `first` at the front and `last` at the end if
    /// they exist.
    std::vector<StepSummary> summaries(std::string_view first, std::string_view last) const;

private:
    struct Step {
        std::string name;
        std::int64_t count = 0;
        double min_ms = 0, max_ms = 0, sum_ms = 0;
    };

    std::vector<Step> steps_;
};

/// Returns a table with a header and one line per step: name, minimum, mean and maximum time in milliseconds, and
/// share.
std::string to_table(std::span<const StepSummary> steps);

/// Thresholds with which the delta frames of a difference stream were made.
struct ThresholdStatistics {
    int min = 0;
    double mean = 0;
    int max = 0;
    int last = 0;  ///< threshold of the newest delta frame
};

/// Collects thresholds, one per delta frame. Not thread-safe.
class ThresholdTally {
public:
    /// Adds the threshold of one delta frame.
    void add(int threshold) {
        min_ = count_ ? std::min(min_, threshold) : threshold;
        max_ = std::max(max_, threshold);
        last_ = threshold;
        sum_ += threshold;
        ++count_;
    }
    /// Returns the number of thresholds added.
    std::int64_t count() const { return count_; }
    /// Returns the statistics; all values are 0 if nothing was added.
    ThresholdStatistics figures() const {
        return {min_, count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0.0, max_, last_};
    }

private:
    int min_ = 0, max_ = 0, last_ = 0;
    std::int64_t sum_ = 0, count_ = 0;
};

/// Summary of a stage's times.
struct TimeSummary {
    double mean_ms = 0;
    double median_ms = 0;
    double p99_ms = 0;  ///< the 99th percentile
    double min_ms = 0, max_ms = 0;
};

/// Cumulative counts of times up to fixed limits, in the form that monitoring systems such as Prometheus expect.
struct TimeBuckets {
    static constexpr std::array<double, 14> limits_ms{0.5, 1, 2, 5, 10, 15, 20, 30, 40, 60, 100, 200, 500, 1000};

    /// Number of times within each limit; counts include those of lower limits.
    std::array<std::int64_t, limits_ms.size()> within{};
    std::int64_t count = 0;
    double sum_ms = 0;
};

/// Counts durations in bins of about equal relative width, as HdrHistogram does. Percentiles of any number of durations
/// are thus computed from a fixed 21 KiB, within 1 % of the exact value for durations up to 19 hours. Mean, minimum and
/// maximum are exact. Not thread-safe.
class TimeHistogram {
public:
    /// Adds a duration. Negative durations and NaN count as 0; durations beyond the last bin count in the last bin.
    /// Does not allocate.
    void add(double ms);

    /// Returns the number of durations.
    std::int64_t count() const { return count_; }

    /// Returns the duration that a fraction `share` (0 to 1) of all durations does not exceed (nearest rank); 0 if
    /// there are no durations.
    double percentile_ms(double share) const;
    /// Returns mean, median, 99th percentile, minimum and maximum; all values are 0 if there are no durations.
    TimeSummary summary() const;
    /// Returns cumulative counts. Durations within 1 % of a limit may be counted on either side of the limit.
    TimeBuckets buckets() const;

private:
    // Durations are whole nanoseconds. The first 2^7 bins hold one value each; above them, each power of two has 2^6
    // bins.
    static constexpr int linear_bits = 7;
    static constexpr int bins_per_octave = 1 << (linear_bits - 1);
    static constexpr int largest_bits = 46;
    static constexpr std::size_t bins = (1 << linear_bits) + (largest_bits - linear_bits) * bins_per_octave;

    static std::size_t bin_of(std::uint64_t ns);
    static double middle_ns(std::size_t bin);

    std::array<std::int64_t, bins> counts_{};
    std::int64_t count_ = 0;
    double sum_ms_ = 0, min_ms_ = 0, max_ms_ = 0;
};

/// The three stages of the frame ring. The time of `process` includes waiting for the work that it started.
enum class Stage { read, process, send };

/// Results of the difference stream, if the run had one.
struct DeltaStatistics {
    /// Size of the stream in the report's format: 5 bytes per changed byte, and the first keyframe as raw pixels.
    std::int64_t report_bytes = 0;
    double changed = 0;          ///< fraction of all bytes that changed, 0 to 1
    int max_error = 0;           ///< largest difference between a viewer's byte and the camera's
    std::optional<double> psnr;  ///< PSNR in dB of the viewer's picture against the camera's; empty if equal
};

/// Rates per viewer of the delta frames that were sent while someone watched.
struct RateStatistics {
    ThresholdStatistics threshold;        ///< thresholds that were in force
    double mean_bits_per_second = 0;      ///< mean rate over the frames' own times
    double most_bits_per_second = 0;      ///< rate of the busiest second
    std::optional<double> max_bitrate{};  ///< rate limit, if there is one
    std::int64_t over = 0;                ///< number of delta frames above the limit even at the greatest threshold
};

/// Processor on which FFmpeg decodes a source's video.
struct DecodeStatistics {
    Backend on = Backend::cpu;  ///< the processor
    std::string reason{};       ///< why the CPU took over from the GPU; empty if it did not
    friend bool operator==(const DecodeStatistics&, const DecodeStatistics&) = default;
};

/// Current DecodeStatistics of a source, which the source sets and others read. Thread-safe.
class DecodeMonitor {
public:
    /// Sets the statistics from the next frame on.
    void set(DecodeStatistics now) {
        const std::lock_guard lock(mutex_);
        now_ = std::move(now);
    }
    /// Returns the statistics; empty before the first frame, and if FFmpeg does not read the source.
    std::optional<DecodeStatistics> get() const {
        const std::lock_guard lock(mutex_);
        return now_;
    }

private:
    mutable std::mutex mutex_;
    std::optional<DecodeStatistics> now_;  // guarded by mutex_
};

/// All statistics of a run at one moment.
struct StatisticsSnapshot {
    std::int64_t frames = 0;  ///< number of frames sent
    std::int64_t drops = 0;   ///< number of captured frames that were dropped because they were late
    double seconds = 0;       ///< time from start() to the last frame sent
    double fps = 0;           ///< mean frames per second
    TimeSummary read_ms, process_ms, send_ms;
    std::array<TimeBuckets, 3> stages{};  ///< times of the stages as buckets, indexed by Stage
    std::int64_t raw_bytes = 0;           ///< size of the sent frames as raw pixels
    std::int64_t sent_bytes = 0;          ///< number of bytes written
    std::optional<DeltaStatistics> delta;
    std::optional<RateStatistics> rate{};
    std::optional<int> gpu{};                  ///< index of the GPU that runs the filters; empty on the CPU
    std::optional<int> effort{};               ///< effort of the last frame of a stream in mode bounded
    std::optional<DecodeStatistics> decode{};  ///< empty if FFmpeg does not read the source
    std::vector<StepSummary> steps;            ///< step times if enabled: read, filters, stages, transfers, send
};

/// Collects the statistics of a run in bounded memory, without allocating in the frame path. Thread-safe.
class Statistics {
public:
    /// Sets the moment from which seconds are counted. Called by the frame ring. If several runs share the object, only
    /// the first call has an effect.
    void start();
    /// Adds the time of one stage for one frame.
    void record(Stage stage, double ms);
    /// Enables the timing of steps: reading, sending, and the steps passed to record_step(). Allocates when a name
    /// appears for the first time.
    void time_steps();
    /// Adds the time of one step if the timing of steps is enabled.
    void record_step(std::string_view name, double ms);
    /// Counts a frame that was sent, of `raw_bytes` raw bytes.
    void count_frame(std::int64_t raw_bytes);
    /// Adds raw bytes for frames of varying size, for which count_frame(0) is called.
    void add_raw_bytes(std::int64_t bytes);
    /// Counts a dropped frame.
    void count_drop();
    /// Sets the total number of bytes written since the start.
    void set_sent_bytes(std::int64_t total);
    /// Adds the first keyframe of a difference stream, which is sent as a whole.
    void add_first_picture(std::int64_t frame_bytes);
    /// Adds the difference encoder's results for one frame of `frame_bytes` bytes.
    void add_delta(const codec::Summary& summary, std::int64_t frame_bytes);
    /// Adds the delta frame at time `seconds` with its size `bytes`, made with `threshold`. `bytes` is 0 while nobody
    /// watches.
    void add_step(double seconds, int threshold, std::int64_t bytes);
    /// Sets the rate limit of a stream's delta frames, and the number of delta frames that exceeded it even at the
    /// greatest threshold.
    void set_rate_limit(double max_bitrate, std::int64_t over);

    /// Sets the GPU that runs the filters from now on; empty: the CPU.
    void set_gpu(std::optional<int> gpu);
    /// Sets the effort of the frames from now on.
    void set_effort(int effort);
    /// Takes where the video is decoded from `monitor`, which may be null.
    void set_decode_monitor(std::shared_ptr<const DecodeMonitor> monitor);
    /// Returns the number of dropped frames.
    std::int64_t drops() const;

    /// Returns a consistent copy of all statistics.
    StatisticsSnapshot snapshot() const;

private:
    mutable std::mutex mutex_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_frame_ = start_;
    std::array<TimeHistogram, 3> times_;
    std::optional<StepTimes> steps_;  // present if the timing of steps is enabled
    std::int64_t frames_ = 0, drops_ = 0, raw_bytes_ = 0, sent_bytes_ = 0;
    std::int64_t delta_bytes_ = 0, first_picture_bytes_ = 0, changed_bytes_ = 0;
    std::uint32_t max_error_ = 0;
    double squared_error_ = 0;
    ThresholdTally thresholds_;
    RateMeter rate_;
    std::optional<double> max_bitrate_;
    std::optional<int> gpu_, effort_;
    std::shared_ptr<const DecodeMonitor> decode_;
    std::int64_t over_ = 0;
};

/// Description of a run that accompanies its statistics.
struct RunDescription {
    std::string source;
    std::string backend;
    Shape size{};                         ///< shape of the frames sent
    std::vector<ChainFigures> filters{};  ///< results of the filters for the last frame
    std::vector<PlannedStep> plan{};      ///< filters and conversions, and their formats
    std::int64_t damaged = 0;             ///< number of damaged packets and pictures, see Source::damaged()
};

/// Returns the statistics as JSON: frames, drops, seconds, fps, read_ms, process_ms and send_ms (each with mean,
/// median, p99, min and max), raw_bytes, sent_bytes, backend, source and size. Depending on the run, the following are
/// added:
/// - for a difference stream: report_bytes, changed, max_error and psnr (null if the pictures are equal);
/// - if someone watched the stream: `threshold` (min, mean, max) and `bits_per_second` (mean, max), and if the rate was
///   limited, max_bitrate and over;
/// - if filters run on a GPU: `gpu`, its index;
/// - for a stream in mode bounded: `effort`, that of the last frame;
/// - if FFmpeg read the source: `decode`, "cpu" or "cuda", and `decode_reason` if the CPU took over from the GPU;
/// - if steps are timed: `steps`;
/// - if filters have results: `filters`, an array of objects with `filter` and the results by name;
/// - if there are filters or stages such as `detect`: `plan`, an array of objects with `operation`, `format` and
///   `reason`;
/// - if the source was damaged: `damaged`, a count.
std::string to_json(const StatisticsSnapshot& snapshot, const RunDescription& run);

/// Returns the values of a frame and of the run so far that filters can display. The result refers to `source`.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source);

/// Values of `--progress`: a bar on a terminal, one JSON line per second, or nothing. `automatic` shows a bar on a
/// terminal and nothing elsewhere.
enum class ProgressMode { automatic, bar, json, none };

/// Parses "auto", "bar", "json" or "none". Throws Error{usage} for any other text.
ProgressMode parse_progress(std::string_view text);

/// Returns a line of at most `columns` characters: frames, rate, bandwidth of a difference stream, drops, and, if the
/// number of frames is known, the finished share and the remaining time.
std::string progress_bar(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames, int columns);

/// Returns a line of JSON: frame, fps, drops, seconds; for a difference stream its statistics with the names of
/// to_json(); and, if the number of frames is known, frames and seconds_left.
std::string progress_json(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames);

/// Returns `line` with the remaining time appended and a bar for the finished share, 0 to 1, in front, as far as each
/// is known. The result has at most `columns` characters.
std::string with_bar(std::string line, std::optional<double> share, std::optional<double> seconds_left, int columns);

/// Functions that format the lines of Progress. Both are called on the thread of Progress.
struct ProgressLines {
    std::function<std::string(int columns)> bar;  ///< returns at most `columns` characters
    std::function<std::string()> json;
};

/// Shows the progress of a run on its own thread until it is destroyed.
class Progress {
public:
    /// Shows the given lines instead of those for a Statistics object.
    Progress(ProgressMode mode, ProgressLines lines, int descriptor = 2);
    /// Writes to `descriptor`, by default standard error. Draws a bar only if the descriptor is a terminal.
    /// `statistics` must outlive the object.
    Progress(ProgressMode mode, const Statistics& statistics, std::optional<std::int64_t> total_frames,
             int descriptor = 2);
    /// Shows the final state and ends the line, then stops the thread.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

private:
    void show() const noexcept;

    ProgressMode mode_;  // bar, json or none
    ProgressLines lines_;
    int descriptor_;
    std::mutex mutex_;
    std::condition_variable ending_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace framewire
