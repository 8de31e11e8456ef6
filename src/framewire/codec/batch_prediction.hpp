#pragma once

#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::codec {

/// Copies the listed blocks of `after` to `before`. For streams with a nonzero `is_camera`, copies those of `camera`
/// instead; null means none. Adds the remaining differences from `camera` in these blocks to `summaries`. All pointers
/// are to device memory. Queued on `stream`.
void advance_blocks(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> after,
                    DeviceView<std::uint8_t> before, const BlockList& list, const std::uint8_t* is_camera,
                    Summary* summaries, const cuda::Stream& stream);

/// Codes the listed blocks in the form "prediction" of format.md on the GPU, to the same bytes as PredictionEncoder.
/// Move-only; not thread-safe.
class BatchPredictionEncoder {
public:
    /// Allocates scratch memory on the current GPU for pictures with `channels` channels.
    BatchPredictionEncoder(int channels, Effort effort);

    /// Codes the listed blocks of `camera`, predicted from the complete previous pictures `before`, and writes the
    /// reconstruction of these blocks to `after`. With `fresh` set, every sub-block is predicted from its neighbours
    /// and `before` is not read. Views may have any strides; `after` must not overlap the others. Queued on `stream`:
    /// one launch.
    void encode(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> before,
                DeviceView<std::uint8_t> after, const BlockList& list, int threshold, bool fresh,
                const CoderTables& tables, const CodedBlocks& coded, const cuda::Stream& stream);

private:
    int channels_;
    Effort effort_;
    unsigned workers_;  // number of thread blocks; each has its own scratch memory
    cuda::DeviceBuffer scratch_;
};

}  // namespace framewire::codec
