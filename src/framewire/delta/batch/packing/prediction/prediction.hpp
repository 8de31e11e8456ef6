#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/prediction/effort.hpp"

namespace framewire::delta {

/// Codes the blocks of a list in the form "prediction" of format.md: as PredictionEncoder does, on the GPU.
class BatchPredictionEncoder {
public:
    /// For pictures of so many channels, on the current GPU.
    BatchPredictionEncoder(int channels, Effort effort);

    /// Codes blocks of `camera` from the whole pictures `before`, and writes these blocks of `after`. With `fresh`
    /// nothing of `before` is used.
    void encode(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> before,
                DeviceView<std::uint8_t> after, const BlockList& list, int threshold, bool fresh,
                const CoderTables& tables, const CodedBlocks& coded, const cuda::Stream& stream);

private:
    int channels_;
    Effort effort_;
    unsigned workers_;  // thread blocks, each with scratch of its own
    cuda::DeviceBuffer scratch_;
};

}  // namespace framewire::delta
