#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace framewire::codec {

/// Encoder for the mode `bounded`: finds a cheap picture within the threshold of the camera's, updates R to it, and
/// packs the change as codec/format.md specifies. Blocks in which no byte is off by more than the threshold keep R.
/// Errors never accumulate: each byte of the new R is within the threshold of the current frame. Move-only; not
/// thread-safe.
class BoundedPacker {
public:
    /// For frames of `shape`, whose `frames` must be 1. `effort` is how thoroughly motion is searched for: 0 not at
    /// all, 1 a little, 2 well. `pool` is optional and must outlive this object; its threads share the blocks of each
    /// frame, and the bytes are the same. Throws Error{usage} if the shape or effort is invalid.
    BoundedPacker(const Shape& shape, int effort, const ThreadPool* pool = nullptr);
    ~BoundedPacker();
    BoundedPacker(BoundedPacker&&) noexcept;
    BoundedPacker& operator=(BoundedPacker&&) noexcept;

    /// Maximum of `effort`.
    static constexpr int max_effort = Effort::most;

    /// Packs a keyframe, appends it to `out`, and sets `reference` to it. It is nearer to `camera` than `threshold`
    /// (0..254) requires, so that noise rarely leaves the threshold afterwards. If that saves little, the keyframe is
    /// lossless instead. The summary has the remaining errors and a count of 0. Throws Error{usage} if an argument is
    /// invalid.
    Summary pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                       std::vector<std::uint8_t>& out);
    /// Packs a delta frame, appends it to `out`, and brings `reference` within `threshold` (0..254) of `camera`. The
    /// summary counts the bytes that were off by more and has the errors that remain. Throws Error{usage} if an
    /// argument is invalid.
    Summary pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                      std::vector<std::uint8_t>& out);
    /// Returns a summary per block for the last frame: the number of bytes that were off by more than the threshold,
    /// and the errors that remain. Valid until the next call.
    std::span<const Summary> blocks() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::codec
