#include "framewire/pipeline/statistics/step_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace framewire {

// A new name is appended, so steps keep the order of their first times.
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

}  // namespace framewire
