// Assembly of packed frames: head, directory, then the coded blocks in ascending order. The directory precedes the
// blocks, so the sizes of all of them must be known before the first one is copied.

#include "framewire/delta/packing/packed.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/block_bytes.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packing.hpp"

namespace framewire::delta {

void BlockWriter::finish(const PackedHead& head, std::span<const int> coded, int blocks,
                         std::vector<std::uint8_t>& out) const {
    out.push_back(static_cast<std::uint8_t>(head.kind));
    out.push_back(static_cast<std::uint8_t>(head.threshold));
    DirectoryWriter directory(out);
    for (const int block : coded) directory.add(block, places_[static_cast<std::size_t>(block)].bytes);
    directory.finish(blocks);
    for (const int block : coded) {
        const auto& place = places_[static_cast<std::size_t>(block)];
        const auto* const from = bytes_[place.worker].data() + place.from;
        out.insert(out.end(), from, from + place.bytes);
    }
}

void append_packed(const PackedHead& head, std::span<const CodedBlock> coded, int blocks,
                   std::vector<std::uint8_t>& out) {
    out.push_back(static_cast<std::uint8_t>(head.kind));
    out.push_back(static_cast<std::uint8_t>(head.threshold));
    DirectoryWriter directory(out);
    for (const auto& [block, bytes] : coded) directory.add(block, bytes.size());
    directory.finish(blocks);
    for (const auto& [block, bytes] : coded) out.insert(out.end(), bytes.begin(), bytes.end());
}

void validate_one_frame(const Shape& shape, const char* what) {
    validate(shape, what);
    if (shape.frames != 1)
        fail(ErrorCode::usage, "{} is a batch of {}; streams are packed one by one", what, shape.frames);
}

void validate_packed_threshold(int threshold) {
    if (threshold < 0 || threshold > PackedHead::max_threshold)
        fail(ErrorCode::usage, "a threshold of {}; 0 to {} are allowed", threshold, PackedHead::max_threshold);
}

std::size_t max_packed_bytes(const Shape& shape) {
    const BlockGrid grid(shape);
    return PackedHead::bytes +
           static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
               max_pixel_bytes(shape.channels) +
           static_cast<std::size_t>(grid.count()) * max_part_bytes;
}

}  // namespace framewire::delta
