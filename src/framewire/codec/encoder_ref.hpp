#pragma once

#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/codec/unpack_ref.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace framewire::codec {

/// Reference implementation of Encoder::encode(), byte by byte (streaming report, section 2.1), with which tests and
/// benchmarks compare the encoders. Host only; `changes` must have a capacity for every byte of a frame.
inline void encode_reference(int threshold, HostView<const std::uint8_t> current, HostView<std::uint8_t> reference,
                             const ChangesView<MemorySpace::host>& changes) {
    const auto& shape = current.shape();
    for (int stream = 0; stream < shape.frames; ++stream) {
        Summary summary;
        auto* positions = changes.positions + stream * changes.capacity;
        auto* differences = changes.differences + stream * changes.capacity;
        std::uint32_t position = 0;
        for (int y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x, ++position) {
                const auto now = current.row(stream, y)[x];
                auto& held = reference.row(stream, y)[x];
                const int difference = now - held;
                if (std::abs(difference) > threshold) {
                    positions[summary.count] = position;
                    differences[summary.count] = static_cast<std::uint8_t>(difference);
                    ++summary.count;
                    held = now;
                }
                const int error = now - held;
                summary.max_error = std::max(summary.max_error, static_cast<std::uint32_t>(std::abs(error)));
                summary.squared_error += static_cast<std::uint64_t>(error * error);
            }
        changes.summaries[stream] = summary;
    }
}

/// Reference implementation of the counts that ExactPacker::pack_step() makes for Refiner::take_cells(), from the
/// changes of one stream of frames of `shape`.
inline std::vector<std::uint16_t> count_cells_reference(const ChangesView<MemorySpace::host>& changes,
                                                        const Shape& shape) {
    const CellGrid cells(shape);
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(cells.count()));
    for (std::uint32_t i = 0; i < changes.summaries[0].count; ++i) {
        const std::int64_t position = changes.positions[i];
        const auto y = static_cast<int>(position / shape.row_bytes()),
                   x = static_cast<int>(position % shape.row_bytes());
        ++counts[static_cast<std::size_t>(cells.cell_of(y, x, shape.channels))];
    }
    return counts;
}

}  // namespace framewire::codec

// Encoder and decoder of a stream, for tests and fuzzers of packed frames.
namespace framewire::codec::reference {

/// Bytes of a packed frame, or of a picture without gaps between rows.
using Bytes = std::vector<std::uint8_t>;

/// Returns the bytes of a picture, without gaps between rows.
inline Bytes bytes_of(HostView<const std::uint8_t> picture) {
    Bytes bytes;
    for (int y = 0; y < picture.shape().height; ++y)
        bytes.insert(bytes.end(), picture.row(0, y), picture.row(0, y) + picture.shape().row_bytes());
    return bytes;
}

/// Returns the picture that the Unpacker decodes from `packed` and the previous picture. Throws the Unpacker's errors.
inline Bytes unpack(const Shape& shape, const Bytes& packed, const Bytes& before) {
    HostImage picture(shape);
    copy(HostView<const std::uint8_t>(before.data(), shape), picture.view());
    Unpacker unpacker(shape);
    const bool whole = !packed.empty() && packed[0] % 2;  // kinds 1 and 3
    whole ? unpacker.apply_picture(packed, picture.view()) : unpacker.apply_changes(packed, picture.view());
    return bytes_of(std::as_const(picture).view());
}

/// Encoding side of a stream: packs frames and holds R.
class Sender {
public:
    /// Creates a sender. If `bounded` is set, it uses BoundedPacker with `effort`; otherwise it packs frames exactly.
    Sender(const Shape& shape, int threshold, bool bounded, int effort)
        : threshold_(threshold),
          bounded_(bounded),
          held_(shape),
          found_(shape),
          packer_(shape),
          bounded_packer_(shape, effort) {}

    /// Packs the next frame and returns its bytes. The first frame is a keyframe.
    Bytes send(HostView<const std::uint8_t> camera) {
        Bytes packed;
        if (bounded_) {
            first_ ? bounded_packer_.pack_first(camera, held_.view(), threshold_, packed)
                   : bounded_packer_.pack_step(camera, held_.view(), threshold_, packed);
        } else if (first_) {
            copy(camera, held_.view());
            packer_.pack_picture(camera, threshold_, packed);
        } else {
            encode_reference(threshold_, camera, held_.view(), found_.view());
            packer_.pack_changes(found_.view(), threshold_, packed);
        }
        first_ = false;
        return packed;
    }
    /// Returns R.
    Bytes held() const { return bytes_of(std::as_const(held_).view()); }

private:
    int threshold_;
    bool bounded_, first_ = true;
    HostImage held_;
    HostChanges found_;
    Packer packer_;
    BoundedPacker bounded_packer_;
};

/// Checks the bound of a stream, frame by frame: the viewer's picture must equal the encoder's R, and each of its bytes
/// must be within the frame's threshold of the camera's. Runs the product's encoders and decoder on the CPU. Not
/// thread-safe.
class Promise {
public:
    /// Frame i is encoded with threshold i of `thresholds`, used cyclically, or with 0 in mode `lossless`. `thresholds`
    /// and `executor` must outlive this object.
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

    /// Encodes and decodes the next frame, which must have no gaps between rows. If `plainly` is set, also requires
    /// that the reference decoder produces the same picture. Throws Error{internal} if a check fails.
    void check(HostView<const std::uint8_t> camera, bool plainly) {
        const int within = mode_ == Mode::lossless ? 0 : thresholds_[frames_ % thresholds_.size()];
        const auto& shape = seen_.shape();
        const auto before = plainly ? bytes_of(std::as_const(seen_).view()) : Bytes();
        packed_.clear();
        pack(camera, within);
        const auto refuse = [&](const char* what) {
            fail(ErrorCode::internal, "{}, within {}, frame {}: {}", to_string(mode_), within, frames_, what);
        };
        if (packed_.size() > max_packed_bytes(shape)) refuse("the packed frame exceeds the size limit");
        frames_ == 0 ? unpacker_.apply_picture(packed_, seen_.view()) : unpacker_.apply_changes(packed_, seen_.view());
        const auto* const seen = std::as_const(seen_).view().data();
        const auto* const held = std::as_const(held_).view().data();
        const auto bytes = static_cast<std::size_t>(shape.bytes());
        if (!std::equal(seen, seen + bytes, held)) refuse("a viewer's picture differs from the encoder's reference");
        int furthest = 0;
        for (std::size_t i = 0; i < bytes; ++i) furthest = std::max(furthest, std::abs(seen[i] - camera.data()[i]));
        if (furthest > within) refuse("a byte differs by more than the threshold");
        if (plainly && !std::ranges::equal(unpack_reference(shape, packed_, before), std::span(seen, bytes)))
            refuse("the reference decoder's picture differs");
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
    std::optional<BoundedPacker> bounded_;  // has a value in mode `bounded`; the three members above in all other modes
    HostImage held_, seen_;
    Unpacker unpacker_;
    Bytes packed_;
    std::size_t frames_ = 0;
    bool reaches_its_bound_ = false;
    std::int64_t packed_bytes_ = 0;
};

}  // namespace framewire::codec::reference
