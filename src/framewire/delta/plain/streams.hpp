#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <cstdint>
#include <utility>
#include <vector>

/// What tests and fuzzers of the packed form do at both ends of a stream.
namespace framewire::delta::plain {

using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(HostView<const std::uint8_t> picture) {
    Bytes bytes;
    for (int y = 0; y < picture.shape().height; ++y)
        bytes.insert(bytes.end(), picture.row(0, y), picture.row(0, y) + picture.shape().row_bytes());
    return bytes;
}

/// What the Unpacker makes of `packed` and `before`; throws Error as that does.
inline Bytes unpack(const Shape& shape, const Bytes& packed, const Bytes& before) {
    HostImage picture(shape);
    copy(HostView<const std::uint8_t>(before.data(), shape), picture.view());
    Unpacker unpacker(shape);
    const bool whole = !packed.empty() && packed[0] % 2;  // kinds 1 and 3
    whole ? unpacker.apply_picture(packed, picture.view()) : unpacker.apply_changes(packed, picture.view());
    return bytes_of(std::as_const(picture).view());
}

/// The encoder's end of a stream: what it writes for each picture, and what it holds then.
class Sender {
public:
    /// `bounded`: as the BoundedPacker does it with `effort`; else exactly what changed.
    Sender(const Shape& shape, int threshold, bool bounded, int effort)
        : threshold_(threshold),
          bounded_(bounded),
          held_(shape),
          found_(shape),
          packer_(shape),
          bounded_packer_(shape, effort) {}

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
