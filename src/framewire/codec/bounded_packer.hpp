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

/// Encoder for the mode `bounded`: chooses a picture that is within the threshold of the camera's and cheap to code,
/// sets R to it, and packs the change as codec/format.md specifies. Blocks of R in which no byte is off by more than
/// the threshold remain unchanged. Errors never accumulate: each byte of the new R is within the threshold of the
/// current frame. Move-only; not thread-safe.
class BoundedPacker {
public:
    /// Creates an encoder for frames of `shape`, whose `frames` must be 1. `effort` is that of the search for
    /// predictions: 0 for none, 1 for a short one, 2 for a thorough one. `pool` is optional and must outlive this
    /// object; its threads share the blocks of each frame. The bytes are the same with and without it. Throws
    /// Error{usage} if the shape or effort is invalid.
    BoundedPacker(const Shape& shape, int effort, const ThreadPool* pool = nullptr);
    ~BoundedPacker();
    BoundedPacker(BoundedPacker&&) noexcept;
    BoundedPacker& operator=(BoundedPacker&&) noexcept;

    /// Maximum of `effort`.
    static constexpr int max_effort = Effort::most;

    /// Sets the effort of the following frames. Throws Error{usage} if it is invalid.
    void set_effort(int effort);

    /// Packs a keyframe, appends it to `out`, and sets `reference` to the decoded picture. It is closer to `camera`
    /// than `threshold` (0..254) requires, so that noise rarely exceeds the threshold afterwards. If this form saves
    /// little, and at effort 0, the keyframe is lossless instead. Returns the remaining errors and a count of 0. Throws
    /// Error{usage} if an argument is invalid.
    Summary pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                       std::vector<std::uint8_t>& out);
    /// Packs a delta frame, appends it to `out`, and brings `reference` within `threshold` (0..254) of `camera`.
    /// Returns the number of bytes that were off by more, and the remaining errors. Throws Error{usage} if an argument
    /// is invalid.
    Summary pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                      std::vector<std::uint8_t>& out);
    /// Returns a summary per block for the last frame: the number of bytes that were off by more than the threshold,
    /// and the remaining errors. Valid until the next call.
    std::span<const Summary> blocks() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::codec
