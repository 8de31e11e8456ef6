#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Copies the listed blocks of `after` to `before`, of those streams for which `is_camera` is not 0 those of `camera`;
/// null for none of them. Adds how far they are off then to `summaries`.
void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream);

}  // namespace framewire::delta
