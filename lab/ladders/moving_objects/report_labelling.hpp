#pragma once

#include "kit/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench::moving_objects {

/// Measures the report's union-find (moving objects 2023, figures 6 to 9) on dense masks of 0 and 255, on the CPU and
/// on the GPU in the blocks of v1.2 and v1.3: checks that it gives the same components as `labels`, one label image per
/// mask, then adds rows of `suite` for masks with this many squares.
void bench_report_labelling(Session& session, const std::string& suite, int squares, HostView<const std::uint8_t> masks,
                            const std::vector<std::vector<std::int32_t>>& labels);

}  // namespace framewire::bench::moving_objects
