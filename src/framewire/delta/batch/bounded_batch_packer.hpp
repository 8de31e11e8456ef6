#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>
#include <memory>

namespace framewire::delta {

/// Packed frames of a batch of streams, in device memory. The bytes of stream s are [begins[s], begins[s + 1]). Wait
/// for `ready` before reading. Valid until the next call of the packer.
struct PackedBatch {
    const std::uint8_t* bytes;
    const unsigned long long* begins;  ///< streams + 1 offsets
    const Summary* summaries;          ///< per stream; all zero after pack_first()
    int streams;
    const cuda::Event* ready;  ///< owned by the packer
    /// Per block, stream by stream: the number of bytes that differed by more than the threshold. Null after
    /// pack_first().
    const std::uint32_t* off = nullptr;
};

/// BoundedPacker for batches of streams on the GPU: compares frames with R, codes the blocks and packs them, so that
/// only finished bytes leave the device. The bytes equal BoundedPacker's. Requires the CUDA backend. Move-only; not
/// thread-safe. Work is queued on the executor's stream and cannot be captured in a graph.
class BoundedBatchPacker {
public:
    /// For batches of `shape`, each frame a stream of its own. `effort` as in BoundedPacker. Keeps a reference to
    /// `executor`. Throws Error{usage} on an invalid shape or effort, Error{internal} without the CUDA backend,
    /// Error{config} if memory is exhausted.
    BoundedBatchPacker(const Shape& shape, int effort, Executor& executor);
    ~BoundedBatchPacker();
    BoundedBatchPacker(BoundedBatchPacker&&) noexcept;
    BoundedBatchPacker& operator=(BoundedBatchPacker&&) noexcept;

    /// Packs a keyframe of every stream as BoundedPacker::pack_first() does, and sets `reference` to the pictures that
    /// they decode to, which are near `current`. Any strides; no overlap. `threshold`: 0..254. Throws Error{usage} if
    /// an argument is invalid.
    PackedBatch pack_first(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);
    /// Packs a delta frame of every stream and brings `reference` within `threshold` (0..254) of `current`. Any
    /// strides; no overlap. Throws Error{usage} if an argument is invalid.
    PackedBatch pack_step(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
