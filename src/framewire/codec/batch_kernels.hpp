#pragma once

#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>

// Functions that launch the kernels of the batch packer, for batch_packer.cpp.

namespace framewire::codec {

/// Position of a coded block within the packed frame of its stream.
struct FramePlace {
    std::uint32_t directory;  ///< offset of the block's directory entry from the beginning of the frame
    std::uint32_t passed;     ///< directory number that skips the blocks before this one or, if this is the last block
                              ///< and skipped itself, those at the end; 0 if no block is skipped
    unsigned long long contents;  ///< offset of the block's bytes from the end of the directory
};

/// Destination of assemble_frames(). All pointers are to device memory.
struct PackedFrames {
    std::uint8_t* bytes;         ///< packed frames, one after the other
    unsigned long long* begins;  ///< streams + 1 offsets into `bytes`; the first one must be 0 before the call
    std::uint32_t* headings;     ///< per stream: size of head and directory in bytes
    std::uint8_t* chosen;        ///< per stream: 1 if the frame `without_loss` was taken, else 0
    FramePlace* places;          ///< position of each block
};

/// Coded blocks of a batch of frames, and the head of each of these frames.
struct CodedFrames {
    CodedBlocks blocks;
    PackedHead head;
};

/// Writes head, directory and blocks of each stream's frame, to the same bytes as BlockWriter. If `without_loss` is not
/// null, it holds the lossless form of each frame, which is used instead of `near` unless takes_near_picture() prefers
/// `near`. Queued on `stream`: two launches.
void assemble_frames(const BatchBlocks& blocks, const CodedFrames& near, const CodedFrames* without_loss,
                     const PackedFrames& to, const cuda::Stream& stream);

/// Compares a batch of frames with R. Adds the blocks in which some byte differs by more than the threshold to `list`.
/// Adds the number of such bytes, and the errors of all other blocks, to `summaries`, which must be zero on entry.
/// Writes the number of such bytes in each block to `off`. All pointers are to device memory. Queued on `stream`: one
/// launch.
void compare_blocks(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference, int threshold,
                    const BlockList& list, Summary* summaries, std::uint32_t* off, const cuda::Stream& stream);

/// Codes all blocks of a batch of keyframes on the GPU, in the forms "whole" and "plain" of format.md, to the same
/// bytes as PictureEncoder. `pictures` may have any strides. Queued on `stream`: one launch.
void encode_pictures(DeviceView<const std::uint8_t> pictures, const CoderTables& tables, const CodedBlocks& coded,
                     const cuda::Stream& stream);

/// Copies the listed blocks from `after` to `before`, or from `camera` for streams with a nonzero entry in `is_camera`,
/// which is optional. Adds the remaining errors of these blocks to `summaries`. All pointers are to device memory.
/// Queued on `stream`.
void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream);

/// Codes the listed blocks in the form "prediction" of format.md on the GPU, to the same bytes as PredictionEncoder.
/// Move-only; not thread-safe.
class BatchPredictionEncoder {
public:
    /// Allocates scratch memory on the current GPU for pictures with `channels` channels.
    BatchPredictionEncoder(int channels, Effort effort);

    /// Sets the effort of the following batches.
    void set_effort(Effort effort) { effort_ = effort; }

    /// Codes the listed blocks of `camera`, predicted from the complete previous pictures `before`, and writes the
    /// reconstruction of these blocks to `after`. If `fresh` is set, every sub-block is predicted from its neighbours,
    /// and `before` is not read. Views may have any strides; `after` must not overlap the others. Queued on `stream`:
    /// one launch.
    void encode(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> before,
                DeviceView<std::uint8_t> after, const BlockList& list, int threshold, bool fresh,
                const CoderTables& tables, const CodedBlocks& coded, const cuda::Stream& stream);

private:
    int channels_;
    Effort effort_;
    unsigned workers_;  // number of thread blocks, each with separate scratch memory
    cuda::DeviceBuffer scratch_;
};

}  // namespace framewire::codec
