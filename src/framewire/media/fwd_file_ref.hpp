#pragma once

#include "framewire/codec/unpack_ref.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

/// Reference reader for intact `.fwd` files: fwd/format.md as straightforward code, which tests compare with the fast
/// reader. The two readers share only the codec's reference decoder.
namespace framewire::fwd::reference {

using Bytes = std::vector<std::uint8_t>;

/// Throws std::runtime_error unless the condition holds.
inline void require(bool true_of_it, const char* what) {
    if (!true_of_it) throw std::runtime_error(what);
}

/// Computes CRC-32C (RFC 3720, appendix B.4), bit by bit.
inline std::uint32_t crc(const Bytes& bytes, std::size_t from, std::size_t to) {
    std::uint32_t value = ~std::uint32_t{0};
    for (std::size_t at = from; at < to; ++at) {
        value ^= bytes[at];
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
    }
    return ~value;
}

/// Returns the little-endian number at a byte offset.
template <class Number>
Number number_at(const Bytes& bytes, std::size_t at) {
    Number number = 0;
    require(at + sizeof number <= bytes.size(), "the file ends too early");
    for (std::size_t byte = sizeof number; byte-- > 0;) number = static_cast<Number>(number << 8 | bytes[at + byte]);
    return number;
}

/// Decoded frame with its place in the file.
struct Frame {
    std::uint64_t offset, bytes, ticks;
    bool whole;
    Bytes picture;
};

/// Header fields and all frames of a file.
struct File {
    Shape shape{};
    int mode = 0, threshold = 0;
    std::uint32_t time_base[2]{}, rate[2]{}, pixel_aspect[2]{};
    std::uint64_t began_us = 0;
    std::vector<Frame> frames;
};

/// Decodes a whole file. Throws std::runtime_error, or Error{source_lost} from the reference decoder, if the file is
/// not intact.
inline File read_fwd(const Bytes& bytes) {
    File file;
    const auto u32 = [&](std::size_t at) { return number_at<std::uint32_t>(bytes, at); };
    const auto u64 = [&](std::size_t at) { return number_at<std::uint64_t>(bytes, at); };
    const auto require_bytes = [&](std::size_t at, std::size_t count) {
        require(at <= bytes.size() && count <= bytes.size() - at, "the file ends too early");
    };
    require_bytes(0, 144);
    /// The header has two equal copies.
    require(std::equal(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64), "the header's copy");
    for (const auto copy : {std::size_t{0}, std::size_t{64}}) {
        require(std::memcmp(bytes.data() + copy,
                            "\x89"
                            "FWD\r\n\x1a\n",
                            8) == 0,
                "no magic");
        require(u32(copy + 8) == 1, "another version");
        require(u32(copy + 60) == crc(bytes, copy, copy + 60), "the header's check");
    }
    file.shape = {1, static_cast<int>(u32(16)), static_cast<int>(u32(12)), bytes[20]};
    file.mode = bytes[21];
    file.threshold = bytes[22];
    for (const int i : {0, 1}) {
        const auto at = static_cast<std::size_t>(4 * i);
        file.time_base[i] = u32(24 + at);
        file.rate[i] = u32(32 + at);
        file.pixel_aspect[i] = u32(48 + at);
    }
    file.began_us = u64(40);

    /// Frames follow, up to the first mark that does not start a frame.
    std::size_t at = 128;
    Bytes picture(static_cast<std::size_t>(file.shape.bytes()));
    for (; std::memcmp(bytes.data() + at,
                       "\xf5"
                       "FW\xa3",
                       4) == 0;) {
        const auto packed_bytes = u32(at + 12), directory_bytes = u32(at + 24);
        require(u32(at + 8) == file.frames.size(), "a frame's number");
        require(directory_bytes >= 2 && directory_bytes <= packed_bytes && u32(at + 28) <= 1, "a head");
        require_bytes(at + 32, packed_bytes);
        require(u32(at + 4) == crc(bytes, at + 8, at + 32 + directory_bytes), "a head's check");
        const Bytes packed(bytes.begin() + static_cast<std::ptrdiff_t>(at + 32),
                           bytes.begin() + static_cast<std::ptrdiff_t>(at + 32 + packed_bytes));
        const bool whole = u32(at + 28) == 1;
        require(whole == (packed[0] % 2 == 1), "a frame is not of its kind");
        require(whole || !file.frames.empty(), "the file does not begin with a keyframe");
        picture = codec::unpack_reference(file.shape, packed, picture);
        /// In the directory, odd numbers count skipped blocks, and even ones are the sizes of coded blocks.
        auto block_at = at + 32 + directory_bytes, check_at = at + 32 + packed_bytes;
        for (std::size_t i = 2; i < directory_bytes;) {
            std::uint32_t number = 0;
            for (int shift = 0;; shift += 7) {
                require(i < directory_bytes && shift < 28, "a directory's number");
                number |= (packed[i] & 0x7fu) << shift;
                if (packed[i++] < 0x80) break;
            }
            if (number % 2) continue;
            require_bytes(block_at, number);
            require(u32(check_at) == crc(bytes, block_at, block_at + number), "a block's check");
            block_at += number;
            check_at += 4;
        }
        require(block_at == at + 32 + packed_bytes, "a directory's sizes");
        require(file.frames.empty() || file.frames.back().ticks < u64(at + 16), "a frame's time");
        file.frames.push_back({at, check_at - at, u64(at + 16), whole, picture});
        require(u64(at + 16) < std::uint64_t{1} << 53, "a frame's time");
        at = check_at;
        require_bytes(at, 4);
    }

    /// The index follows; its checksum covers everything after the checksum up to the trailer.
    const auto index = at;
    require(std::memcmp(bytes.data() + at,
                        "\xf5"
                        "FW\x5c",
                        4) == 0,
            "no index");
    require(u32(at + 8) == file.frames.size(), "the index's frames");
    const auto end = at + 16 + u32(at + 12);
    require_bytes(end, 16);
    require(u32(at + 4) == crc(bytes, at + 8, end), "the index's check");
    at += 16;
    const auto number = [&] {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            require(at < end && shift < 64, "a number of the index");
            value |= static_cast<std::uint64_t>(bytes[at] & 0x7f) << shift;
            if (bytes[at++] < 0x80) return value;
        }
    };
    /// The entries must agree with the frames.
    std::uint64_t offset = 128, ticks = 0, step = 0;
    for (const auto& frame : file.frames) {
        const auto size = number(), change = number();
        step += change % 2 ? ~(change / 2) : change / 2;
        ticks += step;
        require(
            offset == frame.offset && size / 2 == frame.bytes && (size % 2 == 1) == frame.whole && ticks == frame.ticks,
            "an entry of the index");
        offset += size / 2;
    }
    require(at == end && bytes.size() == end + 16, "the index's end");
    /// The trailer ends the file.
    require(u64(end) == index && u32(end + 8) == crc(bytes, end, end + 8) &&
                std::memcmp(bytes.data() + end + 12,
                            "\xf5"
                            "FW.",
                            4) == 0,
            "the file's end");
    return file;
}

}  // namespace framewire::fwd::reference
