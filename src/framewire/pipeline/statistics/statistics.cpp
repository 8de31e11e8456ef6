#include "framewire/pipeline/statistics/statistics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

// All members are sums, extremes or fixed-size histograms, so memory does not grow with the length of a run.
// Everything derived from them (rates, percentiles, PSNR) is computed in snapshot().

namespace framewire {
namespace {

constexpr std::string_view first_step = "read", last_step = "send";

}  // namespace

void Statistics::start() {
    const std::lock_guard lock(mutex_);
    // A later run that shares the object must not restart the clock.
    if (frames_ == 0) start_ = last_frame_ = Clock::now();
}

// The stages read and send are also steps; process consists of the steps that record_step() receives.
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

// The shares and errors of the stream are computed from these sums in snapshot().
void Statistics::add_delta(const delta::Summary& summary, std::int64_t frame_bytes) {
    const std::lock_guard lock(mutex_);
    delta_bytes_ += frame_bytes;
    // The squared error is a sum over bytes; snapshot() divides it by delta_bytes_.
    changed_bytes_ += summary.count;
    max_error_ = std::max(max_error_, summary.max_error);
    squared_error_ += static_cast<double>(summary.squared_error);
}

// No bytes mean that nobody watches, so the rate pauses.
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

// All values are read under one lock, so they belong together.
StatisticsSnapshot Statistics::snapshot() const {
    const std::lock_guard lock(mutex_);
    StatisticsSnapshot snapshot;
    snapshot.frames = frames_;
    snapshot.drops = drops_;
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
        // Shares refer to all bytes of the frames that the encoder saw, including the first.
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
    // The five values of each stage, in milliseconds.
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
    if (run.damaged > 0) json["damaged"] = run.damaged;
    // The name of a source can contain any bytes: those that are not valid UTF-8 are replaced, not rejected.
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace framewire
