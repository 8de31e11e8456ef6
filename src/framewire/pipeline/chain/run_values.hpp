#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/filters/frame_values.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <string_view>

namespace framewire {

/// Returns the values of a frame, and of the run so far, that filters can show. The result refers to `source`.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source);

}  // namespace framewire
