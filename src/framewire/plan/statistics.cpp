#include "framewire/plan/statistics.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

namespace framewire {

// The wall-clock time of the frame is the current time minus the frame's age, because captures are timed with the
// monotonic clock.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source) {
    constexpr double bits_per_byte = 8;
    using std::chrono::system_clock;
    const auto age = std::chrono::duration_cast<system_clock::duration>(Clock::now() - time.captured);
    return {.fps = figures.fps,
            .process_ms = figures.process_ms.mean_ms,
            .read_ms = figures.read_ms.mean_ms,
            .send_ms = figures.send_ms.mean_ms,
            .bandwidth_bits_per_s =
                figures.seconds > 0 ? bits_per_byte * static_cast<double>(figures.sent_bytes) / figures.seconds : 0,
            .changed = figures.delta ? figures.delta->changed : 0,
            .frame = time.index,
            .time_s = time.seconds,
            .clock_s = system_clock::to_time_t(system_clock::now() - age),
            .source = source};
}

}  // namespace framewire

// Display of a run's progress. Formatting is separate from the thread that prints the lines, so that tests and other
// commands can use it.

namespace framewire {
namespace {

constexpr std::chrono::milliseconds bar_period{200}, json_period{1000};
constexpr int usual_columns = 80, longest_bar = 30, shortest_bar = 8;
constexpr const char* erase_line = "\r\x1b[K";

// Returns the remaining time at the mean rate so far; empty if the number of frames is unknown.
std::optional<double> seconds_left(const StatisticsSnapshot& figures, std::optional<std::int64_t> total_frames) {
    if (!total_frames || figures.fps <= 0) return {};
    return static_cast<double>(std::max<std::int64_t>(*total_frames - figures.frames, 0)) / figures.fps;
}

// Formats seconds as minutes and seconds, preceded by hours if there are any; at most 99:59:59.
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
    fail(ErrorCode::usage, "unknown progress mode '{}'; allowed: auto, bar, json, none", text);
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

// The bar fills the columns that the text leaves free. It is omitted if there are too few.
std::string with_bar(std::string line, std::optional<double> share, std::optional<double> seconds_left, int columns) {
    if (seconds_left) line += fmt::format("  {} left", as_clock(*seconds_left));
    if (share) {
        share = std::min(*share, 1.0);
        line += fmt::format("  {:.0f}%", std::floor(100 * *share));
        // The brackets and a space take three characters.
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
    return json_text(json);
}

Progress::Progress(ProgressMode mode, const Statistics& statistics, std::optional<std::int64_t> total_frames,
                   int descriptor)
    : Progress(mode,
               {[&statistics, total_frames](int columns) {
                    return progress_bar(statistics.snapshot(), total_frames, columns);
                },
                [&statistics, total_frames] { return progress_json(statistics.snapshot(), total_frames); }},
               descriptor) {}

// A bar requires a terminal. Without one nothing is shown, and no thread is started.
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

// The final state is shown after the thread has ended, so that lines never interleave.
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

// Writes each line with a single write(), so that lines of other writers do not mix with it.
void Progress::show() const noexcept {
    try {
        const auto line =
            mode_ == ProgressMode::bar ? erase_line + lines_.bar(columns_of(descriptor_) - 1) : lines_.json() + "\n";
        // A failed write is ignored: progress is not part of the result.
        static_cast<void>(!write(descriptor_, line.data(), line.size()));
    } catch (...) {  // no memory for the line: displaying progress must not make a run fail
    }
}

namespace {

constexpr double longest_gap_seconds = 1e6;
constexpr double rounding = 1e-6;  // tolerance: a rounded-down time must not keep an extra frame in the window

std::size_t place_of(std::int64_t bin, std::size_t bins) { return static_cast<std::size_t>(bin) % bins; }

}  // namespace

// Bytes are added to bins of 10 ms. The one-second window is the sum of the last 100 bins.
void RateMeter::add(double seconds, std::int64_t bytes) {
    const double gap = seconds - last_;
    if (runs_ && gap > 0 && gap <= longest_gap_seconds) gap_ = gap;
    runs_ = true;
    last_ = seconds;
    if (count_++ > 0) elapsed_ += gap_;
    total_ += bytes;
    forget_until(static_cast<std::int64_t>(std::floor(elapsed_ * bins_per_second + rounding)));
    bins_[place_of(bin_, bins_.size())] += bytes;
    in_window_ += bytes;
    most_ = std::max(most_, in_window_);
}

// Removes the bins that are no longer in the window.
void RateMeter::forget_until(std::int64_t bin) {
    const auto passed = std::min<std::int64_t>(bin - bin_, bins_per_second);
    for (std::int64_t i = 0; i < passed; ++i) {
        auto& old = bins_[place_of(bin - i, bins_.size())];
        in_window_ -= old;
        old = 0;
    }
    bin_ = bin;
}

double RateMeter::mean_bits_per_second() const {
    if (count_ == 0) return 0;
    // Each frame counts for the time until its successor.
    const double seconds = count_ > 1 ? elapsed_ * static_cast<double>(count_) / static_cast<double>(count_ - 1) : gap_;
    return 8.0 * static_cast<double>(total_) / seconds;
}

}  // namespace framewire

// All members are sums, extremes or fixed-size histograms, so memory does not grow with the length of a run.
// Everything derived from them (rates, percentiles, PSNR) is computed in snapshot().

namespace framewire {
namespace {

constexpr std::string_view first_step = "read", last_step = "send";

}  // namespace

void Statistics::start() {
    const std::lock_guard lock(mutex_);
    // If several runs share the object, later ones must not restart the clock.
    if (frames_ == 0) start_ = last_frame_ = Clock::now();
}

// The stages read and send are also recorded as steps. The stage process consists of the steps that record_step()
// receives.
void Statistics::record(Stage stage, double ms) {
    const std::lock_guard lock(mutex_);
    times_[static_cast<std::size_t>(stage)].add(ms);
    if (steps_ && stage != Stage::process) steps_->add(stage == Stage::read ? first_step : last_step, ms);
}

void Statistics::time_steps() {
    const std::lock_guard lock(mutex_);
    steps_.emplace();
}

void Statistics::record_step(std::string_view name, double ms) {
    const std::lock_guard lock(mutex_);
    if (steps_) steps_->add(name, ms);
}

void Statistics::count_frame(std::int64_t raw_bytes) {
    const std::lock_guard lock(mutex_);
    ++frames_;
    raw_bytes_ += raw_bytes;
    last_frame_ = Clock::now();
}

void Statistics::add_raw_bytes(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    raw_bytes_ += bytes;
}

void Statistics::count_drop() {
    const std::lock_guard lock(mutex_);
    ++drops_;
}

void Statistics::set_sent_bytes(std::int64_t total) {
    const std::lock_guard lock(mutex_);
    sent_bytes_ = total;
}

void Statistics::add_first_picture(std::int64_t frame_bytes) {
    const std::lock_guard lock(mutex_);
    delta_bytes_ += frame_bytes;
    first_picture_bytes_ += frame_bytes;
}

// snapshot() computes the stream's shares and errors from these sums.
void Statistics::add_delta(const codec::Summary& summary, std::int64_t frame_bytes) {
    const std::lock_guard lock(mutex_);
    delta_bytes_ += frame_bytes;
    // The squared error is summed over all bytes; snapshot() divides it by delta_bytes_.
    changed_bytes_ += summary.count;
    max_error_ = std::max(max_error_, summary.max_error);
    squared_error_ += static_cast<double>(summary.squared_error);
}

// If the size is 0, nobody is watching, and the rate measurement pauses.
void Statistics::add_step(double seconds, int threshold, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes == 0) return rate_.pause();
    thresholds_.add(threshold);
    rate_.add(seconds, bytes);
}

void Statistics::set_rate_limit(double max_bitrate, std::int64_t over) {
    const std::lock_guard lock(mutex_);
    max_bitrate_ = max_bitrate;
    over_ = over;
}

void Statistics::set_gpu(std::optional<int> gpu) {
    const std::lock_guard lock(mutex_);
    gpu_ = gpu;
}

void Statistics::set_effort(int effort) {
    const std::lock_guard lock(mutex_);
    effort_ = effort;
}

void Statistics::set_decode_monitor(std::shared_ptr<const DecodeMonitor> monitor) {
    const std::lock_guard lock(mutex_);
    decode_ = std::move(monitor);
}

std::int64_t Statistics::drops() const {
    const std::lock_guard lock(mutex_);
    return drops_;
}

// All values are read under one lock, so that they are consistent.
StatisticsSnapshot Statistics::snapshot() const {
    const std::lock_guard lock(mutex_);
    StatisticsSnapshot snapshot;
    snapshot.frames = frames_;
    snapshot.drops = drops_;
    snapshot.gpu = gpu_;
    snapshot.effort = effort_;
    if (decode_) snapshot.decode = decode_->get();
    snapshot.seconds = milliseconds(start_, last_frame_) / 1000;
    snapshot.fps = snapshot.seconds > 0 ? static_cast<double>(frames_) / snapshot.seconds : 0;
    snapshot.read_ms = times_[static_cast<std::size_t>(Stage::read)].summary();
    snapshot.process_ms = times_[static_cast<std::size_t>(Stage::process)].summary();
    snapshot.send_ms = times_[static_cast<std::size_t>(Stage::send)].summary();
    for (std::size_t stage = 0; stage < times_.size(); ++stage) snapshot.stages[stage] = times_[stage].buckets();
    snapshot.raw_bytes = raw_bytes_;
    snapshot.sent_bytes = sent_bytes_;
    if (steps_) snapshot.steps = steps_->summaries(first_step, last_step);
    if (delta_bytes_ > 0) {
        constexpr std::int64_t report_bytes_a_change = 5;  // a 32-bit position and the difference
        const auto bytes = static_cast<double>(delta_bytes_);
        auto& figures = snapshot.delta.emplace();
        figures.report_bytes = first_picture_bytes_ + report_bytes_a_change * changed_bytes_;
        // Shares refer to all bytes of the frames that the encoder processed, including the first frame.
        figures.changed = static_cast<double>(changed_bytes_) / bytes;
        figures.max_error = static_cast<int>(max_error_);
        if (squared_error_ > 0) figures.psnr = 10 * std::log10(255.0 * 255.0 * bytes / squared_error_);
    }
    if (thresholds_.count() > 0)
        snapshot.rate = {thresholds_.figures(), rate_.mean_bits_per_second(), rate_.most_bits_per_second(),
                         max_bitrate_, over_};
    return snapshot;
}

std::string to_json(const StatisticsSnapshot& snapshot, const RunDescription& run) {
    // Returns the five values of a stage, in milliseconds.
    const auto times = [](const TimeSummary& summary) {
        return nlohmann::ordered_json{{"mean", summary.mean_ms},
                                      {"median", summary.median_ms},
                                      {"p99", summary.p99_ms},
                                      {"min", summary.min_ms},
                                      {"max", summary.max_ms}};
    };
    nlohmann::ordered_json json{
        {"source", run.source},
        {"size", {{"width", run.size.width}, {"height", run.size.height}, {"channels", run.size.channels}}},
        {"backend", run.backend},
        {"frames", snapshot.frames},
        {"drops", snapshot.drops},
        {"seconds", snapshot.seconds},
        {"fps", snapshot.fps},
        {"read_ms", times(snapshot.read_ms)},
        {"process_ms", times(snapshot.process_ms)},
        {"send_ms", times(snapshot.send_ms)},
        {"raw_bytes", snapshot.raw_bytes},
        {"sent_bytes", snapshot.sent_bytes},
    };
    if (const auto& delta = snapshot.delta) {
        json["report_bytes"] = delta->report_bytes;
        json["changed"] = delta->changed;
        json["max_error"] = delta->max_error;
        json["psnr"] = delta->psnr ? nlohmann::ordered_json(*delta->psnr) : nlohmann::ordered_json(nullptr);
    }
    if (const auto& rate = snapshot.rate) {
        // The threshold in force at the end is not part of the report.
        const auto& [min, mean, max, last] = rate->threshold;
        json["threshold"] = {{"min", min}, {"mean", mean}, {"max", max}};
        json["bits_per_second"] = {{"mean", rate->mean_bits_per_second}, {"max", rate->most_bits_per_second}};
        if (rate->max_bitrate) {
            json["max_bitrate"] = *rate->max_bitrate;
            json["over"] = rate->over;
        }
    }
    if (snapshot.gpu) json["gpu"] = *snapshot.gpu;
    if (snapshot.effort) json["effort"] = *snapshot.effort;
    if (const auto& decode = snapshot.decode) {
        json["decode"] = to_string(decode->on);
        if (!decode->reason.empty()) json["decode_reason"] = decode->reason;
    }
    for (const auto& step : snapshot.steps)
        json["steps"].push_back({{"step", step.name},
                                 {"frames", step.count},
                                 {"min_ms", step.min_ms},
                                 {"mean_ms", step.mean_ms},
                                 {"max_ms", step.max_ms},
                                 {"share", step.share}});
    for (const auto& found : run.filters) {
        nlohmann::ordered_json one{{"filter", found.filter}};
        for (const auto& figure : found.figures)
            if (figure.frame == 0) one[std::string(figure.name)] = figure.value;
        json["filters"].push_back(std::move(one));
    }
    for (const auto& step : run.plan)
        json["plan"].push_back({{"operation", step.operation}, {"format", step.format}, {"reason", step.reason}});
    if (run.damaged > 0) json["damaged"] = run.damaged;
    return json_text(json, 2) + "\n";
}

// A new name is appended, so that steps stay in the order of their first appearance.
void StepTimes::add(std::string_view name, double ms) {
    const double time = ms > 0 ? ms : 0;  // the comparison is false for NaN too
    auto step = std::ranges::find(steps_, name, &Step::name);
    if (step == steps_.end()) step = steps_.insert(step, {std::string(name), 0, time, time, 0});
    ++step->count;
    step->min_ms = std::min(step->min_ms, time);
    step->max_ms = std::max(step->max_ms, time);
    step->sum_ms += time;
}

std::vector<StepSummary> StepTimes::summaries(std::string_view first, std::string_view last) const {
    double all_ms = 0;
    for (const auto& step : steps_) all_ms += step.sum_ms;
    std::vector<StepSummary> summaries;
    for (const auto& step : steps_)
        summaries.push_back({step.name, step.count, step.min_ms, step.sum_ms / static_cast<double>(step.count),
                             step.max_ms, all_ms > 0 ? step.sum_ms / all_ms : 0});
    const auto place = [&](const StepSummary& one) { return one.name == first ? 0 : one.name == last ? 2 : 1; };
    std::ranges::stable_sort(summaries, {}, place);
    return summaries;
}

std::string to_table(std::span<const StepSummary> steps) {
    std::size_t width = 4;
    for (const auto& step : steps) width = std::max(width, step.name.size());
    auto table =
        fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:>7}\n", "step", width, "min ms", "mean ms", "max ms", "share");
    for (const auto& step : steps)
        fmt::format_to(std::back_inserter(table), "{:<{}}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>5.1f} %\n", step.name,
                       width, step.min_ms, step.mean_ms, step.max_ms, 100 * step.share);
    return table;
}

// Returns the bin of a duration in nanoseconds.
std::size_t TimeHistogram::bin_of(std::uint64_t ns) {
    if (ns < (1u << linear_bits)) return static_cast<std::size_t>(ns);
    // The top linear_bits bits of the value, the highest of which is always 1, select the bin within its
    // octave.
    const int shift = static_cast<int>(std::bit_width(ns)) - linear_bits;
    const auto within = static_cast<std::size_t>(ns >> shift) - bins_per_octave;
    return (1u << linear_bits) + static_cast<std::size_t>(shift - 1) * bins_per_octave + within;
}

// Returns the middle of a bin's range.
double TimeHistogram::middle_ns(std::size_t bin) {
    if (bin < (1u << linear_bits)) return static_cast<double>(bin);
    const auto above = bin - (1u << linear_bits);
    const auto shift = static_cast<int>(above / bins_per_octave) + 1;
    const auto within = static_cast<double>(above % bins_per_octave + bins_per_octave);
    return std::ldexp(within + 0.5, shift);
}

void TimeHistogram::add(double ms) {
    constexpr double largest_ns = static_cast<double>((std::uint64_t{1} << largest_bits) - 1);
    const double ns = ms > 0 ? std::min(ms * 1e6, largest_ns) : 0;  // the comparison is false for NaN too
    ++counts_[bin_of(static_cast<std::uint64_t>(ns))];
    const double held_ms = ns * 1e-6;
    min_ms_ = count_ == 0 ? held_ms : std::min(min_ms_, held_ms);
    max_ms_ = std::max(max_ms_, held_ms);
    ++count_;
    sum_ms_ += held_ms;
}

// Adds up the bins until their sum reaches the rank.
double TimeHistogram::percentile_ms(double share) const {
    if (count_ == 0) return 0;
    const auto rank = std::clamp<std::int64_t>(std::llround(std::ceil(share * static_cast<double>(count_))), 1, count_);
    std::int64_t seen = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        seen += counts_[bin];
        if (seen >= rank) return middle_ns(bin) * 1e-6;
    }
    return 0;
}

TimeSummary TimeHistogram::summary() const {
    if (count_ == 0) return {};
    return {sum_ms_ / static_cast<double>(count_), percentile_ms(0.5), percentile_ms(0.99), min_ms_, max_ms_};
}

// All durations in a bin count as the middle of the bin's range.
TimeBuckets TimeHistogram::buckets() const {
    TimeBuckets buckets{.count = count_, .sum_ms = sum_ms_};
    std::size_t bin = 0;
    std::int64_t seen = 0;
    for (std::size_t at = 0; at < buckets.within.size(); ++at) {
        for (; bin < bins && middle_ns(bin) * 1e-6 <= TimeBuckets::limits_ms[at]; ++bin) seen += counts_[bin];
        buckets.within[at] = seen;
    }
    return buckets;
}

}  // namespace framewire
