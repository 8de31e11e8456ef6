#pragma once

#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <cstdint>

namespace framewire::delta {

/// Where a coded block goes within its stream's frame.
struct FramePlace {
    std::uint32_t directory;      ///< where the directory tells of it
    std::uint32_t passed;         ///< what the directory tells before: that blocks are passed over; 0 for nothing
    unsigned long long contents;  ///< where its bytes begin, behind the directory
};

/// Where a batch's packed frames are made of its coded blocks. All in device memory.
struct PackedFrames {
    std::uint8_t* bytes;         ///< one frame after the other
    unsigned long long* begins;  ///< of each stream; and behind them where the last one ends
    std::uint32_t* headings;     ///< of each stream: how long head and directory are
    FramePlace* places;          ///< of each block
};

/// Writes head, directory and blocks of each stream, as BlockWriter does.
void assemble_frames(const BatchBlocks& blocks, const CodedBlocks& coded, const PackedHead& head,
                     const PackedFrames& to, const cuda::Stream& stream);

}  // namespace framewire::delta
