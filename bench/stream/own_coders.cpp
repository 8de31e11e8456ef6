#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "stream/bitmaps.hpp"
#include "stream/coders.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace framewire::bench {
namespace own_coders {

void require_same(const HostImage& viewer, const HostImage& reference, const char* coder) {
    if (std::memcmp(viewer.view().data(), reference.view().data(),
                    static_cast<std::size_t>(reference.shape().frame_bytes())) != 0)
        fail(ErrorCode::internal, "{}: the viewer's picture differs from the encoder's", coder);
}

/// Codes a film by changes: encode(changes, bytes) appends the changes of a frame, decode(bytes, viewer) applies them;
/// encode_first(reference, bytes) and decode_first(bytes, viewer) handle the keyframe.
template <class EncodeFirst, class DecodeFirst, class Encode, class Decode>
Coded code_changes(const Film& film, int threshold, const char* name, EncodeFirst&& encode_first,
                   DecodeFirst&& decode_first, Encode&& encode, Decode&& decode) {
    Executor executor(BackendChoice::cpu, 1);
    codec::Encoder encoder({.threshold = threshold}, film.shape, executor);
    codec::HostChanges changes(film.shape);
    HostImage reference(film.shape), viewer(film.shape);
    Coded coded;
    std::vector<std::uint8_t> bytes;
    for (const auto& frame : film.frames) {
        bytes.clear();
        const bool first = coded.bytes.empty();
        const double begin = processor_ms();
        if (first) {
            copy(frame.view(), reference.view());
            encode_first(std::as_const(reference).view(), bytes);
        } else {
            encoder.encode(frame.view(), reference.view(), changes.view());
            encode(changes.view(), bytes);
        }
        const double middle = processor_ms();
        first ? decode_first(bytes, viewer.view()) : decode(bytes, viewer.view());
        const double end = processor_ms();
        if (!first) {
            coded.encode_ms.push_back(middle - begin);
            coded.decode_ms += end - middle;
        }
        require_same(viewer, reference, name);
        coded.bytes.push_back(bytes.size());
        coded.score(frame.view(), std::as_const(viewer).view());
    }
    return coded;
}

using Bytes = std::vector<std::uint8_t>;
using Changes = codec::ChangesView<MemorySpace::host>;

void append_plain(HostView<const std::uint8_t> picture, Bytes& bytes) {
    bytes.insert(bytes.end(), picture.data(), picture.data() + picture.shape().frame_bytes());
}
void take_plain(const Bytes& bytes, HostView<std::uint8_t> picture) {
    std::memcpy(picture.data(), bytes.data(), bytes.size());
}

}  // namespace own_coders

using namespace own_coders;

Coded code_as_report(const Film& film, int threshold) {
    constexpr std::size_t position_bytes = 4;
    return code_changes(
        film, threshold, "the report's format", append_plain, take_plain,
        [&](const Changes& changes, Bytes& bytes) {
            const auto count = changes.summaries[0].count;
            bytes.resize(count * (position_bytes + 1));
            if (count == 0) return;
            std::memcpy(bytes.data(), changes.positions, count * position_bytes);
            std::memcpy(bytes.data() + count * position_bytes, changes.differences, count);
        },
        [&](const Bytes& bytes, HostView<std::uint8_t> viewer) {
            const auto count = bytes.size() / (position_bytes + 1);
            for (std::size_t i = 0; i < count; ++i) {
                std::uint32_t position;
                std::memcpy(&position, bytes.data() + i * position_bytes, position_bytes);
                auto& byte = viewer.data()[position];
                byte = static_cast<std::uint8_t>(byte + bytes[count * position_bytes + i]);
            }
        });
}

std::optional<Coded> code_as_bitmaps(const Film& film, int threshold) {
    if (!has_zstd()) return std::nullopt;
    const auto size = static_cast<std::size_t>(film.shape.frame_bytes());
    const auto row = static_cast<std::size_t>(film.shape.row_bytes());
    const auto channels = static_cast<std::size_t>(film.shape.channels);
    Bytes sparse(size);
    std::size_t packed_size = 0;  // the sender transmits it separately
    return code_changes(
        film, threshold, "zstd",
        [&](HostView<const std::uint8_t> picture, Bytes& bytes) {
            Bytes rises(picture.data(), picture.data() + size);
            for (std::size_t i = size; i-- > 0;)
                if (i % row >= channels) rises[i] = static_cast<std::uint8_t>(rises[i] - rises[i - channels]);
            bytes = compress(rises);
        },
        [&](const Bytes& bytes, HostView<std::uint8_t> picture) {
            auto rises = expand(bytes, size);
            for (std::size_t i = 0; i < size; ++i)
                if (i % row >= channels) rises[i] = static_cast<std::uint8_t>(rises[i] + rises[i - channels]);
            take_plain(rises, picture);
        },
        [&](const Changes& changes, Bytes& bytes) {
            std::fill(sparse.begin(), sparse.end(), std::uint8_t{0});
            for (std::uint32_t i = 0; i < changes.summaries[0].count; ++i)
                sparse[changes.positions[i]] = changes.differences[i];
            const auto packed = bitmap_of(sparse);
            packed_size = packed.size();
            bytes = compress(packed);
        },
        [&](const Bytes& bytes, HostView<std::uint8_t> viewer) {
            spread_bitmap(expand(bytes, packed_size), sparse);
            for (std::size_t i = 0; i < size; ++i)
                viewer.data()[i] = static_cast<std::uint8_t>(viewer.data()[i] + sparse[i]);
        });
}

Coded code_exact(const Film& film, int threshold) {
    codec::Packer packer(film.shape);
    codec::Unpacker unpacker(film.shape);
    return code_changes(
        film, threshold, "exact",
        [&](HostView<const std::uint8_t> picture, Bytes& bytes) { packer.pack_picture(picture, threshold, bytes); },
        [&](const Bytes& bytes, HostView<std::uint8_t> viewer) { unpacker.apply_picture(bytes, viewer); },
        [&](const Changes& changes, Bytes& bytes) { packer.pack_changes(changes, threshold, bytes); },
        [&](const Bytes& bytes, HostView<std::uint8_t> viewer) { unpacker.apply_changes(bytes, viewer); });
}

Coded code_bounded(const Film& film, int threshold, int effort) {
    codec::BoundedPacker packer(film.shape, effort);
    codec::Unpacker unpacker(film.shape);
    HostImage reference(film.shape), viewer(film.shape);
    Coded coded;
    Bytes bytes;
    for (const auto& frame : film.frames) {
        bytes.clear();
        const bool first = coded.bytes.empty();
        const double begin = processor_ms();
        first ? packer.pack_first(frame.view(), reference.view(), threshold, bytes)
              : packer.pack_step(frame.view(), reference.view(), threshold, bytes);
        const double middle = processor_ms();
        first ? unpacker.apply_picture(bytes, viewer.view()) : unpacker.apply_changes(bytes, viewer.view());
        const double end = processor_ms();
        if (!first) {
            coded.encode_ms.push_back(middle - begin);
            coded.decode_ms += end - middle;
        }
        require_same(viewer, reference, "bounded");
        coded.bytes.push_back(bytes.size());
        coded.score(frame.view(), std::as_const(viewer).view());
    }
    return coded;
}

}  // namespace framewire::bench
