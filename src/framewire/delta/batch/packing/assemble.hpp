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
    unsigned long long* begins;  ///< of each stream; and behind them where the last one ends; the first one 0 before
    std::uint32_t* headings;     ///< of each stream: how long head and directory are
    std::uint8_t* chosen;        ///< of each stream: 1 where the frame is the one that may take its place, else 0
    FramePlace* places;          ///< of each block
};

/// The blocks of frames and what they are.
struct CodedFrames {
    CodedBlocks blocks;
    PackedHead head;
};

/// Writes head, directory and blocks of each stream, as BlockWriter does. Where there is a picture `without_loss`, each
/// stream takes it instead of the one that is `near` if takes_near_picture() says so.
void assemble_frames(const BatchBlocks& blocks, const CodedFrames& near, const CodedFrames* without_loss,
                     const PackedFrames& to, const cuda::Stream& stream);

}  // namespace framewire::delta
