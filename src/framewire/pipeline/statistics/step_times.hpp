#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// The times of one step of all frames' way.
struct StepSummary {
    std::string name;
    std::int64_t count = 0;
    double min_ms = 0, mean_ms = 0, max_ms = 0;
    double share = 0;  ///< of the times of all steps together, 0..1
};

/// Gathers the times of steps by their names. Not thread-safe.
class StepTimes {
public:
    /// Negative and undefined times count as 0.
    void add(std::string_view name, double ms);
    /// In the order of their first times, but `first` before all and `last` behind, where they are there.
    std::vector<StepSummary> summaries(std::string_view first, std::string_view last) const;

private:
    struct Step {
        std::string name;
        std::int64_t count = 0;
        double min_ms = 0, max_ms = 0, sum_ms = 0;
    };

    std::vector<Step> steps_;
};

/// A line for each step, below their headings: its name, minimum, mean and maximum in milliseconds, and its share.
std::string to_table(std::span<const StepSummary> steps);

}  // namespace framewire
