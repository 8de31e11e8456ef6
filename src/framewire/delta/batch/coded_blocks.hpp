#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/changes.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The most bytes a coded block takes: a symbol takes 12 bits at most. A pixel has a flag, a pattern, and for each
/// channel a magnitude with 7 bits behind it; each of 64 parts a mode and a vector, which take 64 bits.
FRAMEWIRE_HOST_DEVICE constexpr std::size_t max_block_bytes(int pixels, int channels) {
    return static_cast<std::size_t>(pixels) * static_cast<std::size_t>((2 * 12 + channels * (12 + 7) + 7) / 8) + 640;
}

/// The blocks of a batch of streams as kernels count them: those of one stream after those of the one before.
struct BatchBlocks {
    BlockGrid grid;
    int channels, streams;

    FRAMEWIRE_HOST_DEVICE int count() const { return grid.count() * streams; }
    FRAMEWIRE_HOST_DEVICE int stream(int block) const { return block / grid.count(); }
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int block) const { return grid.place(block % grid.count()); }
};

/// Where kernels leave the coded blocks of a batch: each in a slot of its own, at its end. In device memory.
struct CodedBlocks {
    std::uint8_t* bytes;
    std::uint32_t slot_bytes;  ///< even
    std::uint32_t* sizes;      ///< of each block; 0 where it is not coded; even

    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot(int block) const {
        return bytes + static_cast<unsigned long long>(block) * slot_bytes;
    }
    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot_end(int block) const { return slot(block) + slot_bytes; }
};

/// Blocks that are to be coded, in any order. In device memory.
struct BlockList {
    std::uint32_t* count;
    std::uint32_t* next;    ///< of the list, whose turn it is; 0 before
    std::uint32_t* blocks;  ///< null for all blocks

#ifdef __CUDACC__
    __device__ std::uint32_t add(int block) const {
        const auto at = atomicAdd(count, 1u);
        blocks[at] = static_cast<std::uint32_t>(block);
        return at;
    }
    __device__ std::uint32_t size(const BatchBlocks& all) const {
        return blocks ? *count : static_cast<std::uint32_t>(all.count());
    }
    __device__ int block(std::uint32_t item) const { return static_cast<int>(blocks ? blocks[item] : item); }
#endif
};

}  // namespace framewire::delta
