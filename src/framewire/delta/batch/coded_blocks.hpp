#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/changes.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// The blocks of a batch of streams as kernels count them: those of one stream after those of the one before.
struct BatchBlocks {
    BlockGrid grid;
    int channels, streams;

    FRAMEWIRE_HOST_DEVICE int count() const { return grid.count() * streams; }
    FRAMEWIRE_HOST_DEVICE int stream(int block) const { return block / grid.count(); }
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int block) const { return grid.place(block % grid.count()); }
};

/// Where kernels leave the coded blocks of a batch: each in a slot of its own, at its end. In device memory. Until then
/// the beginning of the slot is free for whoever codes the block.
struct CodedBlocks {
    std::uint8_t* bytes;
    std::uint32_t slot_bytes;  ///< even
    std::uint32_t* sizes;      ///< of each block; 0 where it is not coded; even

    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot(int block) const {
        return bytes + static_cast<unsigned long long>(block) * slot_bytes;
    }
    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot_end(int block) const { return slot(block) + slot_bytes; }
};

/// Blocks that are to be coded; those that will take long come first. In device memory.
struct BlockList {
    static constexpr std::size_t long_ones = 0, others = 1, turn = 2, all_counts = 3;

    std::uint32_t* counts;  ///< how many take long, how many do not, whose turn it is; 0 before
    std::uint32_t*
        blocks;  ///< those that take long from the beginning on, the others from the end on; null: all blocks
    std::uint32_t capacity;

#ifdef __CUDACC__
    /// Returns which place of the list it has.
    __device__ std::uint32_t add(int block, bool takes_long) const {
        const auto number = atomicAdd(&counts[takes_long ? long_ones : others], 1u);
        const auto place = takes_long ? number : capacity - 1 - number;
        blocks[place] = static_cast<std::uint32_t>(block);
        return place;
    }
    __device__ std::uint32_t size() const { return blocks ? counts[long_ones] + counts[others] : capacity; }
    __device__ std::uint32_t next() const { return atomicAdd(&counts[turn], 1u); }
    /// Which place the list's item number `item` has.
    __device__ std::uint32_t place(std::uint32_t item) const {
        return !blocks || item < counts[long_ones] ? item : capacity - 1 - (item - counts[long_ones]);
    }
    __device__ int block(std::uint32_t place) const { return static_cast<int>(blocks ? blocks[place] : place); }
#endif
};

}  // namespace framewire::delta
