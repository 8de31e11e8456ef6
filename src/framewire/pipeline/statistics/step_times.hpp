#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

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

}  // namespace framewire
