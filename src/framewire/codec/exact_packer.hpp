#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::codec {

/// Encoder for the modes `exact` and `lossless` on the CPU: compares a frame with R and packs the delta frame in one
/// pass, without a list of changes. The bytes are those that Packer produces from the changes of Encoder. Comparison
/// and coding overlap: while one thread waits for memory, another one codes. Move-only; not thread-safe.
class ExactPacker {
public:
    /// Creates an encoder for frames of `shape`, whose `frames` must be 1. `pool` is optional and must outlive this
    /// object; its threads share the work on each frame. The bytes are the same with and without it. Throws
    /// Error{usage} if the shape is invalid.
    explicit ExactPacker(const Shape& shape, const ThreadPool* pool = nullptr);
    ~ExactPacker();
    ExactPacker(ExactPacker&&) noexcept;
    ExactPacker& operator=(ExactPacker&&) noexcept;

    /// Appends `camera` as a lossless keyframe to `out` and copies it to `reference`. `threshold` (0..254) is only
    /// written to the head. Returns an empty summary. Throws Error{usage} if an argument is invalid.
    Summary pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                       std::vector<std::uint8_t>& out);
    /// Updates the bytes of `reference` that differ from `camera` by more than `threshold` (0..254), as Encoder does,
    /// and appends the delta frame to `out`. Any strides; no overlap. `changed_per_cell` is optional; if it is not
    /// empty, it must have one entry per cell of CellGrid, and is set to the number of bytes that changed in each cell,
    /// for Refiner::take_cells(). Throws Error{usage} if an argument is invalid.
    Summary pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                      std::vector<std::uint8_t>& out, std::span<std::uint16_t> changed_per_cell = {});
    /// Updates `reference` as pack_step() does, but codes nothing. Sets `changed` to the blocks in which a byte of
    /// `reference` changed.
    Summary update(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                   BlockSet& changed);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::codec
