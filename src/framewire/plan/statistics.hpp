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
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace framewire {

/// Measures the output rate over the frames' own times: the mean, and the busiest second. Bounded memory. Not
/// thread-safe.
class RateMeter {
public:
    /// Adds `bytes` of the frame at `seconds`. If its time is implausible, it counts as one valid gap after
    /// the previous frame.
    void add(double seconds, std::int64_t bytes);
    /// Pauses the output; the time until the next add() does not count.
    void pause() { runs_ = false; }

    /// Returns the mean rate over all frames that were added.
    double mean_bits_per_second() const;
    /// Returns the largest rate of any second, at a resolution of 10 ms.
    double most_bits_per_second() const { return 8.0 * static_cast<double>(most_); }

private:
    void forget_until(std::int64_t bin);

    static constexpr int bins_per_second = 100;

    bool runs_ = false;
    double last_ = 0, gap_ = 1.0 / 30, elapsed_ = 0;
    std::int64_t count_ = 0, total_ = 0;
    std::array<std::int64_t, bins_per_second> bins_{};  // bytes of the last second
    std::int64_t bin_ = 0, in_window_ = 0, most_ = 0;
};

/// Times of one processing step over all frames.
struct StepSummary {
    std::string name;
    std::int64_t count = 0;
    double min_ms = 0, mean_ms = 0, max_ms = 0;
    double share = 0;  ///< share of the total time of all steps, 0 to 1
};

/// Collects the times of steps by name. Not thread-safe.
class StepTimes {
public:
    /// Adds a time in milliseconds. Negative times and NaN count as 0.
    void add(std::string_view name, double ms);
    /// Returns the steps in the order of their first times, with `first` moved to the front and `last` to the
    /// end, if present.
    std::vector<StepSummary> summaries(std::string_view first, std::string_view last) const;

private:
    struct Step {
        std::string name;
        std::int64_t count = 0;
        double min_ms = 0, max_ms = 0, sum_ms = 0;
    };

    std::vector<Step> steps_;
};

/// Returns a table with a header and one line per step: name, minimum, mean and maximum in milliseconds, and
/// share.
std::string to_table(std::span<const StepSummary> steps);

/// Thresholds that the delta frames of a difference stream were made with.
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
    /// Returns the number of thresholds.
    std::int64_t count() const { return count_; }
    /// Returns the statistics; all 0 if nothing was added.
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

/// Cumulative counts of times up to some limits, in the form that monitoring systems such as Prometheus want.
struct TimeBuckets {
    static constexpr std::array<double, 14> limits_ms{0.5, 1, 2, 5, 10, 15, 20, 30, 40, 60, 100, 200, 500, 1000};

    /// Times within each limit, including those within the lower limits.
    std::array<std::int64_t, limits_ms.size()> within{};
    std::int64_t count = 0;
    double sum_ms = 0;
};

/// Counts durations in bins of about equal relative width (as HdrHistogram does), so that percentiles of any
/// number of durations come from a fixed 21 KiB: within 1 % of the exact value for up to 19 hours. Mean,
/// minimum and maximum are exact. Not thread-safe.
class TimeHistogram {
public:
    /// Adds a duration. Negative durations and NaN count as 0, larger ones than the last bin count into it.
    /// Does not allocate.
    void add(double ms);

    /// Returns the number of durations.
    std::int64_t count() const { return count_; }

    /// Returns the duration that `share` (0 to 1) of all durations do not exceed (nearest rank); 0 if there are
    /// none.
    double percentile_ms(double share) const;
    /// Returns mean, median, 99th percentile, minimum and maximum; all 0 if there are no durations.
    TimeSummary summary() const;
    /// Returns cumulative counts. Durations within 1 % of a limit may count on either side of it.
    TimeBuckets buckets() const;

private:
    // Durations are whole nanoseconds. The first 2^7 bins hold one value each; after them each power of two has
    // 2^6 bins.
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

/// The three stages of the frame ring. The time of `process` includes the wait for its work.
enum class Stage { read, process, send };

/// Results of the difference stream; only if one ran.
struct DeltaStatistics {
    /// Bytes in the report's format: 5 per changed byte, and the first keyframe as raw pixels.
    std::int64_t report_bytes = 0;
    double changed = 0;          ///< share of all bytes that changed, 0 to 1
    int max_error = 0;           ///< largest difference of a viewer's byte from the camera's
    std::optional<double> psnr;  ///< PSNR of the viewer's picture against the camera's in dB; empty if they are equal
};

/// Rates of the delta frames sent while someone watched, per viewer; only if someone did.
struct RateStatistics {
    ThresholdStatistics threshold;        ///< thresholds in force
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
    std::optional<DeltaStatistics> delta;
    std::optional<RateStatistics> rate{};
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
    void add_delta(const codec::Summary& summary, std::int64_t frame_bytes);
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
    Shape size{};                         ///< shape of the frames sent
    std::vector<ChainFigures> filters{};  ///< results of the filters for the last frame
    std::int64_t damaged = 0;             ///< damage of the source; see Source::damaged()
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

/// Returns the values of a frame, and of the run so far, that filters can show. The result refers to `source`.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source);

/// Values of `--progress`: a bar on a terminal, a JSON line per second, or nothing. `automatic` is a bar on a
/// terminal and nothing elsewhere.
enum class ProgressMode { automatic, bar, json, none };

/// Parses "auto", "bar", "json" or "none". Throws Error{usage} for any other text.
ProgressMode parse_progress(std::string_view text);

/// Returns one line of at most `columns` characters: frames, rate, the bandwidth of a difference stream, drops
/// and, if the number of frames is known, share and time left.
std::string progress_bar(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames, int columns);

/// Returns the same as one line of JSON: frame, fps, drops, seconds; for a difference stream its statistics
/// under the names of to_json(); and if the number of frames is known, frames and seconds_left.
std::string progress_json(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames);

/// Returns a line of progress with the time left appended and the finished share, 0 to 1, as a bar in front, as
/// far as each is known. At most `columns` characters.
std::string with_bar(std::string line, std::optional<double> share, std::optional<double> seconds_left, int columns);

/// Functions that format the lines of Progress. Both are called on its thread.
struct ProgressLines {
    std::function<std::string(int columns)> bar;  ///< at most `columns` characters
    std::function<std::string()> json;
};

/// Shows the progress of a run, on its own thread, until it is destroyed.
class Progress {
public:
    /// Shows the given lines; otherwise as the other constructor.
    Progress(ProgressMode mode, ProgressLines lines, int descriptor = 2);
    /// Writes to `descriptor`, by default standard error. Draws a bar only if that is a terminal. `statistics`
    /// must outlive the object.
    Progress(ProgressMode mode, const Statistics& statistics, std::optional<std::int64_t> total_frames,
             int descriptor = 2);
    /// Shows the final state and ends the line.
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
