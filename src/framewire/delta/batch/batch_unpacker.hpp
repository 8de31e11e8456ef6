#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace framewire::delta {

/// Undoes packers for batches of streams on the GPU, whichever backend packed them. What it reads is taken for hostile.
/// Only with the CUDA backend. Move-only; not for two threads at once.
class BatchUnpacker {
public:
    /// For batches of `shape`, each frame a stream of its own. Keeps a reference to `executor`. Throws Error{usage} on
    /// a shape that is not allowed, Error{internal} without the CUDA backend, Error{config} without memory.
    BatchUnpacker(const Shape& shape, Executor& executor);
    ~BatchUnpacker();
    BatchUnpacker(BatchUnpacker&&) noexcept;
    BatchUnpacker& operator=(BatchUnpacker&&) noexcept;

    /// Applies a packed frame of each stream to `reference`: steps, pictures, and blocks by themselves (kind 4), as
    /// servers send them; returns when that is done. An empty one leaves its stream as it is. Throws Error{source_lost}
    /// on bytes that Unpacker refuses, too, when all other streams have theirs; those of the broken ones are untouched.
    /// Throws Error{usage} on another number of frames.
    void apply(std::span<const std::span<const std::uint8_t>> frames, DeviceView<std::uint8_t> reference);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
