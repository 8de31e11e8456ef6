#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"

#include <cstdint>

namespace framewire::delta {

/// Codes the blocks of a list from their differences, in the form "changes" of format.md: as ChangesEncoder does, on
/// the GPU.
class BatchChangesEncoder {
public:
    /// For pictures of so many channels, on the current GPU.
    explicit BatchChangesEncoder(int channels);

    /// `differences`: as compare_blocks() wrote them with this threshold.
    void encode(const BatchBlocks& blocks, const BlockList& list, const std::uint8_t* differences, int threshold,
                const CoderTables& tables, const CodedBlocks& coded, const cuda::Stream& stream);

private:
    int channels_;
    unsigned workers_;  // thread blocks, each with scratch of its own
    cuda::DeviceBuffer scratch_;
};

}  // namespace framewire::delta
