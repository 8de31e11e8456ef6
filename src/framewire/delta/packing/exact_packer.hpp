#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace framewire::delta {

/// The difference encoder's modes `exact` and `lossless` on the CPU where nobody wants the list of changes: compares a
/// frame with R and packs the step at once, into the bytes that Packer makes of what Encoder finds. While one thread
/// waits for pictures from memory, another one codes. Move-only; not for two threads at once.
class ExactPacker {
public:
    /// For frames of `shape` (one frame). Where there is a `pool`, which lives longer, its threads share each frame;
    /// the bytes are the same. Throws Error{usage} on another shape.
    explicit ExactPacker(const Shape& shape, const ThreadPool* pool = nullptr);
    ~ExactPacker();
    ExactPacker(ExactPacker&&) noexcept;
    ExactPacker& operator=(ExactPacker&&) noexcept;

    /// Sets `reference` to `camera` and appends it packed; `threshold` (0..254) is only told. The summary is 0.
    Summary pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                       std::vector<std::uint8_t>& out);
    /// Brings `reference` up to `camera` where it is off by more than `threshold` (0..254), as Encoder does, and
    /// appends the step packed. Throws Error{usage} on another threshold or shape. Any strides; no overlap.
    Summary pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                      std::vector<std::uint8_t>& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::delta
