#pragma once

#include "framewire/pipeline/statistics/statistics.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace framewire {

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
