#pragma once

#include "kit/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench::moving_objects {

/// The report's union-find (moving objects 2023, figures 6 to 9) on dense masks of 0 and 255, on the CPU and on the GPU
/// in v1.2's and v1.3's blocks: checks that it gives the same components as `labels`, a label image for each mask, then
/// adds rows of `suite` for masks of so many squares.
void bench_report_labelling(Session& session, const std::string& suite, int squares, HostView<const std::uint8_t> masks,
                            const std::vector<std::vector<std::int32_t>>& labels);

}  // namespace framewire::bench::moving_objects
