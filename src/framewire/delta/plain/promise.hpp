#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/plain/streams.hpp"
#include "framewire/delta/unpack_ref.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace framewire::delta::plain {

/// Checks the bound of a stream, frame by frame: a viewer sees exactly what the encoder holds in R, and each byte of
/// that is within the frame's threshold of the camera's. Runs the product's encoders and decoder on the CPU. Not
/// thread-safe.
class Promise {
public:
    /// Frame i is encoded with thresholds[i], cyclically; in mode lossless with 0. `thresholds` and `executor` must
    /// outlive this object.
    Promise(const Shape& shape, Mode mode, int effort, std::span<const int> thresholds, Executor& executor)
        : mode_(mode), thresholds_(thresholds), held_(shape), seen_(shape), unpacker_(shape, &executor.pool()) {
        if (mode == Mode::bounded) {
            bounded_.emplace(shape, effort, &executor.pool());
        } else {
            encoder_.emplace(EncoderParameters{.mode = mode, .threshold = thresholds[0]}, shape, executor);
            packer_.emplace(shape, &executor.pool());
            found_.emplace(shape);
        }
    }

    /// Encodes and decodes the next frame, in rows without gaps. `plainly`: the reference decoder must produce the same
    /// picture. Throws Error{internal} if the bound is violated.
    void check(HostView<const std::uint8_t> camera, bool plainly) {
        const int within = mode_ == Mode::lossless ? 0 : thresholds_[frames_ % thresholds_.size()];
        const auto& shape = seen_.shape();
        const auto before = plainly ? bytes_of(std::as_const(seen_).view()) : Bytes();
        packed_.clear();
        pack(camera, within);
        const auto refuse = [&](const char* what) {
            fail(ErrorCode::internal, "{}, within {}, frame {}: {}", to_string(mode_), within, frames_, what);
        };
        if (packed_.size() > max_packed_bytes(shape)) refuse("more bytes than a frame may have");
        frames_ == 0 ? unpacker_.apply_picture(packed_, seen_.view()) : unpacker_.apply_changes(packed_, seen_.view());
        const auto* const seen = std::as_const(seen_).view().data();
        const auto* const held = std::as_const(held_).view().data();
        const auto bytes = static_cast<std::size_t>(shape.bytes());
        if (!std::equal(seen, seen + bytes, held)) refuse("a viewer sees another picture than the encoder holds");
        int furthest = 0;
        for (std::size_t i = 0; i < bytes; ++i) furthest = std::max(furthest, std::abs(seen[i] - camera.data()[i]));
        if (furthest > within) refuse("a byte is off by more");
        if (plainly && !std::ranges::equal(unpack_reference(shape, packed_, before), std::span(seen, bytes)))
            refuse("the plain decoder sees another picture");
        reaches_its_bound_ |= furthest == within;
        packed_bytes_ += static_cast<std::int64_t>(packed_.size());
        ++frames_;
    }

    /// Returns true if some byte of some frame was off by exactly the threshold.
    bool reaches_its_bound() const { return reaches_its_bound_; }
    /// Returns the number of bytes packed so far.
    std::int64_t packed_bytes() const { return packed_bytes_; }

private:
    void pack(HostView<const std::uint8_t> camera, int within) {
        if (bounded_) {
            frames_ == 0 ? bounded_->pack_first(camera, held_.view(), within, packed_)
                         : bounded_->pack_step(camera, held_.view(), within, packed_);
        } else if (frames_ == 0) {
            copy(camera, held_.view());
            packer_->pack_picture(camera, within, packed_);
        } else {
            encoder_->encode(camera, held_.view(), found_->view(), within);
            packer_->pack_changes(found_->view(), within, packed_);
        }
    }

    Mode mode_;
    std::span<const int> thresholds_;
    std::optional<Encoder> encoder_;
    std::optional<Packer> packer_;
    std::optional<HostChanges> found_;
    std::optional<BoundedPacker> bounded_;  // empty unless the mode is bounded; then the three members above are
    HostImage held_, seen_;
    Unpacker unpacker_;
    Bytes packed_;
    std::size_t frames_ = 0;
    bool reaches_its_bound_ = false;
    std::int64_t packed_bytes_ = 0;
};

}  // namespace framewire::delta::plain
