#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Copies the listed blocks of `after` to `before`. For streams with a nonzero `is_camera`, copies those of `camera`
/// instead; null means none. Adds the remaining differences from `camera` in these blocks to `summaries`. All pointers
/// are to device memory. Queued on `stream`.
void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream);

}  // namespace framewire::delta
