#pragma once

#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <cstdint>

namespace framewire::delta {

/// Position of a coded block within the packed frame of its stream.
struct FramePlace {
    std::uint32_t directory;  ///< offset of the block's directory entry from the beginning of the frame
    std::uint32_t passed;     ///< directory number for the skipped blocks before this one, or, in a last block that is
                              ///< skipped itself, for those at the end; 0 if there are none
    unsigned long long contents;  ///< offset of the block's bytes from the end of the directory
};

/// Destination of assemble_frames(). All pointers are to device memory.
struct PackedFrames {
    std::uint8_t* bytes;         ///< packed frames, one after the other
    unsigned long long* begins;  ///< streams + 1 offsets into `bytes`; the first one must be 0 before the call
    std::uint32_t* headings;     ///< per stream: bytes of head and directory
    std::uint8_t* chosen;        ///< per stream: 1 if the frame `without_loss` was taken, else 0
    FramePlace* places;          ///< per block
};

/// Coded blocks of a batch of frames and the head that the frames get.
struct CodedFrames {
    CodedBlocks blocks;
    PackedHead head;
};

/// Writes head, directory and blocks of each stream's frame, byte for byte as BlockWriter does. If `without_loss` is
/// not null, each stream takes that frame instead of `near` unless takes_near_picture() prefers `near`. Queued on
/// `stream`: two launches.
void assemble_frames(const BatchBlocks& blocks, const CodedFrames& near, const CodedFrames* without_loss,
                     const PackedFrames& to, const cuda::Stream& stream);

}  // namespace framewire::delta
