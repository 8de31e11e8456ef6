#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/filters/frame_values.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <string_view>

namespace framewire {

/// What filters can show of a frame and of the run up to it. Refers to `source`.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source);

}  // namespace framewire
