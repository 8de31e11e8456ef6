#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace framewire::codec {

/// Packed frames of a batch of streams, in device memory. The frame of stream s is the range from begins[s] to begins[s
/// + 1] - 1 of `bytes`. Wait for `ready` before reading. Valid until the next call of the packer.
struct PackedBatch {
    const std::uint8_t* bytes;
    const unsigned long long* begins;  ///< streams + 1 offsets
    const Summary* summaries;          ///< one per stream; `count` is 0 after pack_first()
    int streams;
    const cuda::Event* ready;  ///< owned by the packer
    /// Number of bytes of each block, stream by stream, that differed by more than the threshold. Null after
    /// pack_first().
    const std::uint32_t* off = nullptr;
};

/// BoundedPacker for batches of streams on the GPU: compares frames with R, codes the blocks and packs them, so that
/// only finished bytes leave the device. The bytes equal BoundedPacker's. Requires the CUDA backend. Move-only; not
/// thread-safe. Queues its work on the executor's stream; the work cannot be captured in a graph.
class BoundedBatchPacker {
public:
    /// Creates a packer for batches of `shape`, in which each frame belongs to a separate stream. `effort` is as for
    /// BoundedPacker. Keeps a reference to `executor`. Throws Error{usage} if the shape or the effort is invalid,
    /// Error{internal} without the CUDA backend, and Error{config} if memory is exhausted.
    BoundedBatchPacker(const Shape& shape, int effort, Executor& executor);
    ~BoundedBatchPacker();
    BoundedBatchPacker(BoundedBatchPacker&&) noexcept;
    BoundedBatchPacker& operator=(BoundedBatchPacker&&) noexcept;

    /// Sets the effort of the following batches. Throws Error{usage} if it is invalid.
    void set_effort(int effort);

    /// Packs a keyframe of every stream as BoundedPacker::pack_first() does, and sets `reference` to the decoded
    /// pictures, which are close to `current`. Any strides; no overlap. `threshold`: 0..254. Throws Error{usage} if an
    /// argument is invalid.
    PackedBatch pack_first(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);
    /// Packs a delta frame of every stream and brings `reference` within `threshold` (0..254) of `current`. Any
    /// strides; no overlap. Throws Error{usage} if an argument is invalid.
    PackedBatch pack_step(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Numbering of the blocks of a batch in kernels: all blocks of stream 0 row by row, then those of stream 1, and so on.
struct BatchBlocks {
    BlockGrid grid;
    int channels, streams;

    /// Returns the total number of blocks of all streams.
    FRAMEWIRE_HOST_DEVICE int count() const { return grid.count() * streams; }
    /// Returns the stream to which `block` belongs.
    FRAMEWIRE_HOST_DEVICE int stream(int block) const { return block / grid.count(); }
    /// Returns the position of `block` in its frame, in pixels.
    FRAMEWIRE_HOST_DEVICE BlockPlace place(int block) const { return grid.place(block % grid.count()); }
};

/// Coded blocks of a batch, in device memory. Each block has a slot, and its bytes end at the end of the slot. The
/// kernel that codes a block may use the beginning of its slot as scratch memory.
struct CodedBlocks {
    std::uint8_t* bytes;       ///< the slots, one after the other
    std::uint32_t slot_bytes;  ///< size of a slot; even
    std::uint32_t* sizes;      ///< number of coded bytes of each block; even; 0 if the block is not coded

    /// Returns the first byte of a block's slot.
    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot(int block) const {
        return bytes + static_cast<unsigned long long>(block) * slot_bytes;
    }
    /// Returns the end of a block's slot, which is also the end of its coded bytes.
    FRAMEWIRE_HOST_DEVICE std::uint8_t* slot_end(int block) const { return slot(block) + slot_bytes; }
};

/// Work list of the blocks to code, in device memory. Expensive blocks come first, so that no thread block starts a
/// long one near the end.
///
///     blocks:  [ expensive ->  | unused |  <- others ]
struct BlockList {
    static constexpr std::size_t long_ones = 0, others = 1, turn = 2, all_counts = 3;

    std::uint32_t* counts;  ///< three counters: expensive blocks, other blocks, items taken by next(); all 0 before the
                            ///< first add()
    std::uint32_t* blocks;  ///< `capacity` entries in the layout above; null if the list contains all blocks
    std::uint32_t capacity;  ///< number of entries of `blocks`

#ifdef __CUDACC__
    /// Appends a block and returns its place in the list. Any thread may call it.
    __device__ std::uint32_t add(int block, bool takes_long) const {
        const auto number = atomicAdd(&counts[takes_long ? long_ones : others], 1u);
        const auto place = takes_long ? number : capacity - 1 - number;
        blocks[place] = static_cast<std::uint32_t>(block);
        return place;
    }
    /// Returns the number of blocks in the list.
    __device__ std::uint32_t size() const { return blocks ? counts[long_ones] + counts[others] : capacity; }
    /// Returns the number of the next item and marks it as taken; if the result is size() or more, no item is left. One
    /// thread of each worker calls it.
    __device__ std::uint32_t next() const { return atomicAdd(&counts[turn], 1u); }
    /// Returns the place of an item in the list. Items are numbered in coding order.
    __device__ std::uint32_t place(std::uint32_t item) const {
        return !blocks || item < counts[long_ones] ? item : capacity - 1 - (item - counts[long_ones]);
    }
    /// Returns the block at a place.
    __device__ int block(std::uint32_t place) const { return static_cast<int>(blocks ? blocks[place] : place); }
#endif
};

}  // namespace framewire::codec
