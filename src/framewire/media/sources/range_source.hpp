#pragma once

#include "framewire/pipeline/source.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace framewire {

/// Time range of a source: from `start_seconds`, inclusive, to `duration_seconds` later, exclusive.
struct TimeRange {
    double start_seconds = 0;
    std::optional<double> duration_seconds{};  ///< default: to the end
};

/// Makes a source with the frames of `range`, which keep their times and indices; it seeks to the start on the first
/// read. seek() goes to any time in the range: with the source's own seek(), or by reading up to it, from a newly
/// opened source if the time has passed and the source `opens_again`. Throws Error{usage} on a start in a live source;
/// read() throws Error{no_input} if the source ends before the start.
std::unique_ptr<Source> make_range_source(std::function<std::unique_ptr<Source>()> open, bool opens_again,
                                          const TimeRange& range, std::stop_token stop);

}  // namespace framewire
