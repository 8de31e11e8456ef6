#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"

#include <cstdint>

namespace framewire::delta {

/// Codes all blocks of a batch of keyframes on the GPU, in the forms "whole" and "plain" of format.md, to the same
/// bytes as PictureEncoder. `pictures` may have any strides. Queued on `stream`: one launch.
void encode_pictures(DeviceView<const std::uint8_t> pictures, const CoderTables& tables, const CodedBlocks& coded,
                     const cuda::Stream& stream);

}  // namespace framewire::delta
