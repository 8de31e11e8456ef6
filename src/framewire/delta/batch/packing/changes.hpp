#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"

#include <cstdint>

namespace framewire::delta {

/// Codes the blocks of a list from their differences, in the form "changes" of format.md: as ChangesEncoder does, on
/// the GPU. One batch after the other; several encoders may be at work at once.
class BatchChangesEncoder {
public:
    /// For such batches, on the current GPU.
    explicit BatchChangesEncoder(const BatchBlocks& blocks);

    /// `differences`: as compare_blocks() wrote them with this threshold.
    void encode(const BlockList& list, const std::uint8_t* differences, int threshold, const CoderTables& tables,
                const CodedBlocks& coded, const cuda::Stream& stream) const;

private:
    BatchBlocks blocks_;
    unsigned finders_, coders_;  // thread blocks; the former have scratch of their own
    cuda::DeviceBuffer scratch_, waiting_;
};

}  // namespace framewire::delta
