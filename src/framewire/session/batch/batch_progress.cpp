#include "framewire/session/batch/batch_progress.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace framewire::session {
namespace {

// Fraction that is done, by input bytes. Files of unknown size count as nothing until everything ended.
double share_of(const BatchFigures& figures) {
    if (figures.files == figures.ended) return 1;
    return figures.bytes > 0 ? static_cast<double>(figures.ended_bytes) / static_cast<double>(figures.bytes) : 0;
}

// Remaining time if the speed stays the same; empty before the first file ended.
std::optional<double> seconds_left(const BatchFigures& figures) {
    const auto share = share_of(figures);
    if (share <= 0) return {};
    return figures.seconds * (1 - share) / share;
}

double rate_of(const BatchFigures& figures) {
    return figures.seconds > 0 ? static_cast<double>(figures.frames) / figures.seconds : 0;
}

}  // namespace

BatchTally::BatchTally(int files, std::int64_t bytes, bool cut) {
    ended_.files = files;
    ended_.cut = cut;
    ended_.bytes = bytes;
}

void BatchTally::watch(const Statistics& statistics) {
    const std::lock_guard lock(mutex_);
    running_.insert(&statistics);
}

void BatchTally::unwatch(const Statistics& statistics) {
    const std::lock_guard lock(mutex_);
    running_.erase(&statistics);
    ended_.frames += statistics.snapshot().frames;
}

void BatchTally::count(std::int64_t bytes, bool failed) {
    const std::lock_guard lock(mutex_);
    ++ended_.ended;
    ended_.failed += failed ? 1 : 0;
    ended_.ended_bytes += bytes;
}

BatchFigures BatchTally::figures() const {
    const std::lock_guard lock(mutex_);
    auto figures = ended_;
    for (const auto* statistics : running_) figures.frames += statistics->snapshot().frames;
    figures.seconds = milliseconds_since(start_) / 1000;
    return figures;
}

ProgressLines progress_lines(const BatchTally& tally) {
    return {[&tally](int columns) { return batch_bar(tally.figures(), columns); },
            [&tally] { return batch_json(tally.figures()); }};
}

std::string batch_bar(const BatchFigures& figures, int columns) {
    auto line = fmt::format("{}/{} {}", figures.ended, figures.files, figures.cut ? "pieces" : "files");
    if (figures.failed > 0) line += fmt::format("  {} failed", figures.failed);
    line += fmt::format("  {} frames  {:.1f} fps", figures.frames, rate_of(figures));
    return with_bar(line, share_of(figures), seconds_left(figures), columns);
}

std::string batch_json(const BatchFigures& figures) {
    nlohmann::ordered_json json{{"files", figures.files},   {"ended", figures.ended},  {"failed", figures.failed},
                                {"frames", figures.frames}, {"fps", rate_of(figures)}, {"seconds", figures.seconds}};
    if (const auto left = seconds_left(figures)) json["seconds_left"] = *left;
    return json.dump();
}

}  // namespace framewire::session
