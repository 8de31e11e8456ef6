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

/// What `--progress` may say: a bar on a terminal, a JSON line a second, or nothing. `automatic` is a bar where there
/// is a terminal and nothing elsewhere.
enum class ProgressMode { automatic, bar, json, none };

/// Reads "auto", "bar", "json" or "none"; throws Error{usage} on anything else.
ProgressMode parse_progress(std::string_view text);

/// One line of at most `columns` characters: frames, rate, a difference stream's bandwidth, drops and, with the number
/// of frames known, share and time left.
std::string progress_bar(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames, int columns);

/// The same as one line of JSON: frame, fps, drops, seconds, for a difference stream its figures by the names of
/// to_json(), and with the number of frames known frames and seconds_left.
std::string progress_json(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames);

/// A line of progress with the time that is left, and the share that is done, 0 to 1, as a bar before it, as far as
/// both are known; of at most `columns` characters.
std::string with_bar(std::string line, std::optional<double> share, std::optional<double> seconds_left, int columns);

/// What Progress shows: both are called from its thread.
struct ProgressLines {
    std::function<std::string(int columns)> bar;  ///< of at most so many characters
    std::function<std::string()> json;
};

/// Shows how a run goes, from a thread of its own, until it is destroyed.
class Progress {
public:
    /// Of lines made elsewhere; else as the other one.
    Progress(ProgressMode mode, ProgressLines lines, int descriptor = 2);
    /// Writes to `descriptor`, standard error by default. A bar is drawn only when that is a terminal. `statistics`
    /// lives longer.
    Progress(ProgressMode mode, const Statistics& statistics, std::optional<std::int64_t> total_frames,
             int descriptor = 2);
    /// Shows the last state and ends the line.
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
