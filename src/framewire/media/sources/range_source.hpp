#pragma once

#include "framewire/pipeline/source.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace framewire {

/// What of a source is wanted, by its times: from `start` up to, and without, `duration` later.
struct TimeRange {
    double start_seconds = 0;
    std::optional<double> duration_seconds{};  ///< none: to the end
};

/// The frames of `range`, with the times and numbers that they have in the source; goes to its start when the first is
/// read. seek() goes to any time in the range: by the source's own seek(), else by reading up to there, from the start
/// where that time is over and the source `opens_again`. Throws Error{usage} on a start in what is live; read() throws
/// Error{no_input} where the source ends before the start.
std::unique_ptr<Source> make_range_source(std::function<std::unique_ptr<Source>()> open, bool opens_again,
                                          const TimeRange& range, std::stop_token stop);

}  // namespace framewire
