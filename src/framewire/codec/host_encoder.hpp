#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace framewire::codec {

/// Form in which an encoder packs a frame. `nothing`: the encoder only updates R. `delta_frame`: the first frame of a
/// stream becomes a keyframe instead, because there is no R yet.
enum class PackAs { nothing, keyframe, delta_frame };

/// Result of encoding one frame of a stream. What it refers to belongs to the encoder and is valid until the next
/// frame.
struct EncodedFrame {
    bool whole = false;  ///< true if R was replaced as a whole; false if only the changed blocks were updated
    Summary found{};     ///< number of changed bytes, and remaining errors of R; empty if `whole` in mode exact
    /// Packed keyframe or delta frame; empty if nothing was packed.
    std::span<const std::uint8_t> packed{};
    /// Blocks of R that changed; null if R was replaced as a whole or if the frame was packed.
    const BlockSet* changed = nullptr;
};

/// Encoder of a difference stream on the host, in any mode. Owns R, the reference picture, and updates and packs each
/// frame in one pass over its blocks. Move-only; not thread-safe.
class HostEncoder {
public:
    /// For frames of `shape`, whose `frames` must be 1. `pool` must outlive this object; its threads share the blocks
    /// of each frame. `refines` must be true if refine() will be called: in mode exact, changes are then counted per
    /// cell. Throws Error{usage} if the parameters or the shape are invalid.
    HostEncoder(const EncoderParameters& parameters, const Shape& shape, const ThreadPool& pool, bool refines = false);

    /// Encodes the next frame. `threshold` (0..254) applies to this frame; default: the threshold of the parameters. If
    /// nothing is packed, modes exact and lossless still update only the bytes of R that are off by more than the
    /// threshold, whereas mode bounded replaces R by the frame. Throws Error{usage} if an argument is invalid.
    EncodedFrame encode(HostView<const std::uint8_t> camera, PackAs as, std::optional<int> threshold = {});

    /// Sets the effort of the following frames in mode bounded; no effect in the other modes. Throws Error{usage} if it
    /// is invalid.
    void set_effort(int effort);

    /// Refines the static regions of R as far as `moment` allows, and stores the change in `step`. Call it after
    /// encode() of the same frame. Refinement starts over unless the frame was packed as a delta frame. Updates the
    /// errors in `encoded.found`. Throws Error{usage} if the encoder was made without `refines`, and what
    /// Refiner::refine() throws.
    void refine(HostView<const std::uint8_t> camera, EncodedFrame& encoded, Refiner& refiner,
                const Refiner::Moment& moment, RefinementDelta& step);

    /// Returns R.
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    int threshold_;
    std::variant<ExactPacker, BoundedPacker> packer_;  // by mode
    HostImage reference_;
    bool started_ = false;
    std::vector<std::uint8_t> packed_;
    BlockSet changed_;
    std::vector<std::uint16_t> changed_per_cell_;  // of the last delta frame, if exact streams are refined
};

}  // namespace framewire::codec
