#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/delta.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace framewire::delta {

/// How many batches a packer has under way at once in the modes exact and lossless.
inline constexpr int packed_batches = 3;

/// The packed frames of a batch of streams, in device memory: stream s's bytes are those from begins[s] to before
/// begins[s + 1]. Streams that read them wait for `ready` first. They stay until the packer is called packed_batches
/// times more, in the mode bounded until it is called once more.
struct PackedBatch {
    const std::uint8_t* bytes;
    const unsigned long long* begins;  ///< one more than streams
    const Summary* summaries;          ///< of each stream: what its step found; zero after pictures
    int streams;
    const cuda::Event* ready;  ///< the packer's
    /// Of steps of the mode bounded: of each block, stream by stream, how many bytes were off by more than the
    /// threshold.
    const std::uint32_t* off = nullptr;
};

/// The difference encoder and packer in one, for batches of streams on the GPU: frames are compared with R, and what
/// changes is chosen, coded block by block and packed, so that only finished bytes travel. The bytes are those of
/// Encoder and Packer, in the mode bounded of BoundedPacker. Only with the CUDA backend. Move-only; not for two threads
/// at once. Calls queue work on the executor's stream. Thresholds are 0 to 254.
/// Changes are coded on a stream of the packer's own, while the executor's goes on: the next batch may be compared
/// meanwhile. So calls are not for graphs, and the packer has memory of packed_batches batches.
class BatchPacker {
public:
    /// For batches of `shape`, each frame a stream of its own. Keeps a reference to `executor`. Throws Error{usage} on
    /// parameters and shapes that are not allowed, Error{internal} without the CUDA backend, Error{config} without
    /// memory.
    BatchPacker(const EncoderParameters& parameters, const Shape& shape, Executor& executor);
    ~BatchPacker();
    BatchPacker(BatchPacker&&) noexcept;
    BatchPacker& operator=(BatchPacker&&) noexcept;

    /// Sets `reference` to the first pictures, which are `current`, in the mode bounded near it, and packs them.
    PackedBatch pack_first(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);
    /// Brings `reference` within `threshold` of `current` and packs the steps. Any strides; no overlap.
    PackedBatch pack_steps(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold);
    /// Packs pictures as they are, of steps with `threshold`.
    PackedBatch pack_pictures(DeviceView<const std::uint8_t> pictures, int threshold);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
