#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"

#include <cstdint>

namespace framewire::delta {

/// A coded block of a batch: which one it is and where its bytes are.
struct BlockItem {
    std::uint64_t begin;
    std::uint32_t size;
    std::int32_t block;
};

/// Of each stream: what PackedHead says, and whether its bytes turned out to be broken.
struct StreamItem {
    std::uint8_t kind, threshold;
    std::uint8_t padding[2];
    std::uint32_t broken;
};

/// Decodes blocks of any form, on the GPU. All pointers into device memory.
struct DecodeJob {
    const std::uint8_t* bytes;  ///< a few behind the last block may be read
    const BlockItem* items;
    std::uint32_t item_count;
    std::uint32_t* next;  ///< 0 before
    StreamItem* streams;
    CoderTables tables;
};

/// Reads the blocks of `before` into `after`; those of changes as differences.
void decode_blocks(const DecodeJob& job, DeviceView<const std::uint8_t> before, DeviceView<std::uint8_t> after,
                   const cuda::Stream& stream);
/// Brings the blocks of `reference` to what they are after it, but for broken streams.
void apply_blocks(const DecodeJob& job, DeviceView<const std::uint8_t> after, DeviceView<std::uint8_t> reference,
                  const cuda::Stream& stream);

}  // namespace framewire::delta
