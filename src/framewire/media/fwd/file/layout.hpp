#pragma once

// Byte layout of `.fwd` files, as specified in format.md: little-endian, written and parsed field by field, every
// number validated.

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Structure of a file:
//
//    0                                                          end
//    | header | header copy | frame 0 | frame 1 | ... | index | trailer |
//
// A frame is self-contained in terms of bytes: a mark to search for, a checksum of header and directory, the packed
// bytes of the difference stream, and a checksum per coded block.
//
//    +0   F5 46 57 A3       +16  time (8 bytes)
//    +4   checksum          +24  size D of kind, threshold and directory
//    +8   number            +28  1: keyframe, 0: delta frame
//    +12  packed bytes P    +32  P packed bytes, then 4 bytes per coded block
//
// Index and trailer are written by finish(), so a file of a killed process ends after some frame and is still
// readable.
namespace framewire::fwd {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

/// Format version in the header.
inline constexpr std::uint32_t version = 1;
/// Size of the header, of which the file starts with two copies.
inline constexpr std::size_t header_bytes = 64;
/// File offset of the first frame.
inline constexpr std::int64_t first_record = 2 * header_bytes;
/// Size of a frame's header, which precedes its packed bytes.
inline constexpr std::size_t frame_head_bytes = 32;
/// Size of the index header, which precedes the entries.
inline constexpr std::size_t index_head_bytes = 16;
/// Size of the trailer of a finished file.
inline constexpr std::size_t trailer_bytes = 16;
/// Size of each block's checksum.
inline constexpr std::size_t check_bytes = 4;
/// Largest frame time, in units of the header's time base; the smallest is 0.
inline constexpr std::int64_t max_ticks = (std::int64_t{1} << 53) - 1;

/// Fields of the file header.
struct Header {
    Shape shape{};  ///< of one frame
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;               ///< the requested threshold; each frame has its own
    Rational time_base{1, 1};        ///< seconds per time unit
    std::optional<Rational> rate{};  ///< frames per second, if known
    std::int64_t began_us = 0;       ///< time of day of the first frame, in microseconds since 1970 UTC; 0: unknown
    Rational pixel_aspect{1, 1};     ///< pixel width / height
};

/// CRC-32C (Castagnoli) as in RFC 3720.
std::uint32_t checksum(ByteSpan bytes);

/// Appends one copy of the header. Throws Error{usage} if a field is out of the format's range.
void put_header(const Header& header, Bytes& out);
/// True if `bytes` start with the magic of a `.fwd` file.
bool has_magic(ByteSpan bytes);
/// Parses a header of `header_bytes`; nullopt if its checksum is wrong. If the checksum is right, throws
/// Error{no_input} (with `name` of the file) on invalid fields and Error{config} on another version.
std::optional<Header> read_header(ByteSpan bytes, const std::string& name);

/// Header of one frame.
struct FrameHead {
    std::uint32_t number = 0;  ///< index in the file, from 0
    std::int64_t ticks = 0;
    bool whole = false;  ///< a keyframe; otherwise a delta frame
    std::uint32_t packed_bytes = 0;
    std::uint32_t directory_bytes = 0;  ///< size of the directory, which precedes the blocks in the packed bytes
};

/// True if packed bytes are a keyframe.
bool is_picture(ByteSpan packed);

/// The four bytes with which a frame starts.
ByteSpan frame_mark();
/// The four bytes with which the index starts.
ByteSpan index_mark();

/// Appends a frame: its header, whose sizes are those of `packed`, then `packed`, then a checksum for each of its
/// blocks (`blocks`). The threads of `pool` compute the checksums.
void put_frame(const FrameHead& head, ByteSpan packed, std::span<const delta::CodedBlock> blocks,
               const ThreadPool& pool, Bytes& out);
/// Calls body(index in `blocks`, its checksum()), on several threads if there are many blocks.
template <class Body>
void for_checks(std::span<const delta::CodedBlock> blocks, const ThreadPool& pool, Body&& body) {
    constexpr std::int64_t blocks_at_once = 32;
    pool.for_chunks(std::ssize(blocks), blocks_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto block = static_cast<std::size_t>(begin); block < static_cast<std::size_t>(end); ++block)
            body(block, checksum(blocks[block].bytes));
    });
}
/// Parses the part of a frame header that does not need the directory; nullopt if it is invalid for a frame of at most
/// `limit` packed bytes and `blocks` blocks.
std::optional<FrameHead> read_frame_head(ByteSpan bytes, std::size_t limit, int blocks);
/// True if the checksum of a frame header is right; `directory` is the part of the packed bytes before the blocks.
bool is_frame_head_whole(ByteSpan head, ByteSpan directory);

/// Index entry of a frame.
struct IndexEntry {
    std::int64_t offset = 0;  ///< of its header in the file
    std::int64_t bytes = 0;   ///< total size
    std::int64_t ticks = 0;
    bool whole = false;
};

/// Builds the index, about four bytes per frame.
class IndexWriter {
public:
    /// Adds the next frame of the file.
    void add(std::int64_t bytes, std::int64_t ticks, bool whole);
    /// The index and the trailer, for a file in which the index starts at `offset`.
    Bytes finish(std::int64_t offset) const;

private:
    Bytes entries_;
    std::uint32_t frames_ = 0;
    std::int64_t last_ticks_ = 0, last_step_ = 0;
};

/// Decodes index entries from consecutive numbers.
class IndexReader {
public:
    /// The next frame, from its two numbers; nullopt if they are invalid.
    std::optional<IndexEntry> next(std::uint64_t size, std::uint64_t time);

private:
    std::int64_t offset_ = first_record, ticks_ = 0, step_ = 0;
    bool began_ = false;
};

/// Little-endian 32-bit number at an offset, which the caller has checked.
std::uint32_t u32_at(ByteSpan bytes, std::size_t at);
/// Little-endian 64-bit number at an offset, which the caller has checked.
std::uint64_t u64_at(ByteSpan bytes, std::size_t at);
/// File offset of the index, from the trailer; nullopt if `trailer` is not one.
std::optional<std::int64_t> read_trailer(ByteSpan trailer);

}  // namespace framewire::fwd
