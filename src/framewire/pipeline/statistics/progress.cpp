#include "framewire/pipeline/statistics/progress.hpp"

#include "framewire/core/error.hpp"

#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

// The display of a run's progress. Formatting is separate from the thread that shows the lines, so tests and
// other commands can use it.

namespace framewire {
namespace {

constexpr std::chrono::milliseconds bar_period{200}, json_period{1000};
constexpr int usual_columns = 80, longest_bar = 30, shortest_bar = 8;
constexpr const char* erase_line = "\r\x1b[K";

// Returns the time left at the mean rate so far, if the number of frames is known.
std::optional<double> seconds_left(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames) {
    if (!total_frames || figures.fps <= 0) return {};
    return static_cast<double>(std::max<std::int64_t>(*total_frames - figures.frames, 0)) / figures.fps;
}

// Formats seconds as minutes and seconds, with hours if there are any, at most 99:59:59.
std::string as_clock(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::min(std::ceil(seconds), 359'999.0));  // 99:59:59
    if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// Returns the width of a terminal, or 80 columns if it is unknown.
int columns_of(int descriptor) {
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_columns;
}

}  // namespace

ProgressMode parse_progress(std::string_view text) {
    if (text == "auto") return ProgressMode::automatic;
    if (text == "bar") return ProgressMode::bar;
    if (text == "json") return ProgressMode::json;
    if (text == "none") return ProgressMode::none;
    fail(ErrorCode::usage, "no progress '{}'; allowed are auto, bar, json, none", text);
}

std::string progress_bar(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames, int columns) {
    auto line = total_frames ? fmt::format("frame {}/{}", figures.frames, *total_frames)
                             : fmt::format("frame {}", figures.frames);
    line += fmt::format("  {:.1f} fps", figures.fps);
    if (figures.delta && figures.seconds > 0 && figures.raw_bytes > 0)
        line += fmt::format("  {:.2f} Mbit/s, {:.2f}% of raw",
                            8e-6 * static_cast<double>(figures.sent_bytes) / figures.seconds,
                            100 * static_cast<double>(figures.sent_bytes) / static_cast<double>(figures.raw_bytes));
    if (figures.drops > 0) line += fmt::format("  {} dropped", figures.drops);
    std::optional<double> share;
    if (total_frames && *total_frames > 0)
        share = static_cast<double>(figures.frames) / static_cast<double>(*total_frames);
    return with_bar(std::move(line), share, seconds_left(figures, total_frames), columns);
}

// The bar takes what the text leaves, and is dropped if that is too narrow.
std::string with_bar(std::string line, std::optional<double> share, std::optional<double> seconds_left, int columns) {
    if (seconds_left) line += fmt::format("  {} left", as_clock(*seconds_left));
    if (share) {
        share = std::min(*share, 1.0);
        line += fmt::format("  {:.0f}%", std::floor(100 * *share));
        // Three characters are the brackets and a space.
        const int cells = std::min(columns - static_cast<int>(line.size()) - 3, longest_bar);
        if (cells >= shortest_bar) {
            const auto full = static_cast<std::size_t>(*share * cells);
            line = fmt::format("[{:<{}}] {}", std::string(full, '='), cells, line);
        }
    }
    return line.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

std::string progress_json(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames) {
    nlohmann::ordered_json json{
        {"frame", figures.frames}, {"fps", figures.fps}, {"drops", figures.drops}, {"seconds", figures.seconds}};
    if (const auto& delta = figures.delta) {
        json["raw_bytes"] = figures.raw_bytes;
        json["sent_bytes"] = figures.sent_bytes;
        json["report_bytes"] = delta->report_bytes;
        json["changed"] = delta->changed;
        json["max_error"] = delta->max_error;
        json["psnr"] = delta->psnr ? nlohmann::ordered_json(*delta->psnr) : nlohmann::ordered_json(nullptr);
    }
    if (total_frames) json["frames"] = *total_frames;
    if (const auto left = seconds_left(figures, total_frames)) json["seconds_left"] = *left;
    return json.dump();
}

Progress::Progress(ProgressMode mode, const Statistics& statistics, std::optional<std::int64_t> total_frames,
                   int descriptor)
    : Progress(mode,
               {[&statistics, total_frames](int columns) {
                    return progress_bar(statistics.snapshot(), total_frames, columns);
                },
                [&statistics, total_frames] { return progress_json(statistics.snapshot(), total_frames); }},
               descriptor) {}

// A bar needs a terminal; without one nothing is shown, and no thread is started.
Progress::Progress(ProgressMode mode, ProgressLines lines, int descriptor)
    : mode_(mode), lines_(std::move(lines)), descriptor_(descriptor) {
    if (mode_ == ProgressMode::automatic) mode_ = ProgressMode::bar;
    if (mode_ == ProgressMode::bar && !isatty(descriptor)) mode_ = ProgressMode::none;
    if (mode_ == ProgressMode::none) return;
    thread_ = std::thread([this] {
        const auto period = mode_ == ProgressMode::bar ? bar_period : json_period;
        std::unique_lock lock(mutex_);
        while (!ending_.wait_for(lock, period, [this] { return ended_; })) show();
    });
}

// The final state is shown after the thread has ended, so lines never interleave.
Progress::~Progress() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    ending_.notify_all();
    thread_.join();
    show();
    if (mode_ == ProgressMode::bar) static_cast<void>(!write(descriptor_, "\n", 1));
}

// One write() per line, so that lines of other writers do not mix with it.
void Progress::show() const noexcept {
    try {
        const auto line =
            mode_ == ProgressMode::bar ? erase_line + lines_.bar(columns_of(descriptor_) - 1) : lines_.json() + "\n";
        // A failed write is ignored: progress is not part of the result.
        static_cast<void>(!write(descriptor_, line.data(), line.size()));
    } catch (...) {  // no memory for the line: the progress display never makes a run fail
    }
}

}  // namespace framewire
