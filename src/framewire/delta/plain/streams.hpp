#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <cstdint>
#include <utility>
#include <vector>

// Both ends of a stream, for tests and fuzzers of packed frames.
namespace framewire::delta::plain {

/// Packed frames, and pictures without gaps.
using Bytes = std::vector<std::uint8_t>;

/// Returns the bytes of a picture in rows without gaps.
inline Bytes bytes_of(HostView<const std::uint8_t> picture) {
    Bytes bytes;
    for (int y = 0; y < picture.shape().height; ++y)
        bytes.insert(bytes.end(), picture.row(0, y), picture.row(0, y) + picture.shape().row_bytes());
    return bytes;
}

/// Returns the picture that the Unpacker makes from `packed` and the previous picture. Throws what the Unpacker throws.
inline Bytes unpack(const Shape& shape, const Bytes& packed, const Bytes& before) {
    HostImage picture(shape);
    copy(HostView<const std::uint8_t>(before.data(), shape), picture.view());
    Unpacker unpacker(shape);
    const bool whole = !packed.empty() && packed[0] % 2;  // kinds 1 and 3
    whole ? unpacker.apply_picture(packed, picture.view()) : unpacker.apply_changes(packed, picture.view());
    return bytes_of(std::as_const(picture).view());
}

/// Encoder's end of a stream: packs frames and holds R.
class Sender {
public:
    /// `bounded` selects BoundedPacker with `effort`, otherwise frames are packed exactly.
    Sender(const Shape& shape, int threshold, bool bounded, int effort)
        : threshold_(threshold),
          bounded_(bounded),
          held_(shape),
          found_(shape),
          packer_(shape),
          bounded_packer_(shape, effort) {}

    /// Packs the next frame; the first one as a keyframe.
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

}  // namespace framewire::delta::plain
