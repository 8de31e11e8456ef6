#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"

#include <cstdint>

namespace framewire::delta {

/// Bytes of one block's differences, rows of `block_side * channels`.
FRAMEWIRE_HOST_DEVICE constexpr std::size_t block_slot_bytes(int channels) {
    return static_cast<std::size_t>(block_side * block_side * channels);
}

/// Compares a batch of frames with R and lists the blocks where some byte is off by more than the threshold. Adds what
/// it finds to `summaries`, zero before: how many bytes are, and the errors that are left.
/// With `differences` R takes those bytes, and the differences of the block in place i of the list are written there,
/// in slot i. Without, R stays, and the errors of the listed blocks are not counted.
/// `off`, where it is not null, gets how many bytes those are of each block.
void compare_blocks(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold,
                    const BlockList& list, std::uint8_t* differences, Summary* summaries, std::uint32_t* off,
                    const cuda::Stream& stream);

}  // namespace framewire::delta
