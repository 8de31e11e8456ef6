#pragma once

// The bytes of `.fwd` files, as format.md has them: written and read by hand, little-endian, every number checked.

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

namespace framewire::fwd {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline constexpr std::uint32_t version = 1;
/// Of the header, which stands at the file's beginning twice.
inline constexpr std::size_t header_bytes = 64;
inline constexpr std::int64_t first_record = 2 * header_bytes;
/// Of a frame's head, before its packed bytes.
inline constexpr std::size_t frame_head_bytes = 32;
/// Of the index before its entries.
inline constexpr std::size_t index_head_bytes = 16;
/// At the end of a finished file.
inline constexpr std::size_t trailer_bytes = 16;
/// Of each block's check.
inline constexpr std::size_t check_bytes = 4;
/// A frame's time is from 0 to this, in units of the header's time base.
inline constexpr std::int64_t max_ticks = (std::int64_t{1} << 53) - 1;

/// What stands at the beginning of a file.
struct Header {
    Shape shape{};  ///< of one frame
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;               ///< that was asked for; each frame says its own
    Rational time_base{1, 1};        ///< seconds that a unit of time lasts
    std::optional<Rational> rate{};  ///< frames a second, where known
    std::int64_t began_us = 0;       ///< the first frame's time of day, in microseconds since 1970 UTC; 0: not known
    Rational pixel_aspect{1, 1};     ///< a pixel's width over its height
};

/// CRC-32C (Castagnoli), as RFC 3720 has it.
std::uint32_t checksum(ByteSpan bytes);

/// Appends it once. Throws Error{usage} on what no file can say.
void put_header(const Header& header, Bytes& out);
/// Whether `bytes` begin like a `.fwd` file.
bool has_magic(ByteSpan bytes);
/// The header of `header_bytes`; nothing where its check is wrong. Throws Error{no_input}, naming the file `name`, on
/// one that is whole but says what is not allowed, Error{config} on another version.
std::optional<Header> read_header(ByteSpan bytes, const std::string& name);

/// The head of a frame.
struct FrameHead {
    std::uint32_t number = 0;  ///< in the file, from 0
    std::int64_t ticks = 0;
    bool whole = false;  ///< a picture, else a step from the frame before
    std::uint32_t packed_bytes = 0;
    std::uint32_t directory_bytes = 0;  ///< of the packed bytes, those before the blocks
};

/// Whether packed bytes are a whole picture.
bool is_picture(ByteSpan packed);

/// The four bytes that a frame begins with, and those that the index does.
ByteSpan frame_mark();
ByteSpan index_mark();

/// Appends a frame: its head, whose sizes are those of `packed`, `packed` and a check for each of its blocks, which
/// are `blocks`; the threads of `pool` share them.
void put_frame(const FrameHead& head, ByteSpan packed, std::span<const delta::CodedBlock> blocks,
               const ThreadPool& pool, Bytes& out);
/// Calls body(number of the block in `blocks`, its checksum()), on several threads where there is much to do.
template <class Body>
void for_checks(std::span<const delta::CodedBlock> blocks, const ThreadPool& pool, Body&& body) {
    constexpr std::int64_t blocks_at_once = 32;
    pool.for_chunks(std::ssize(blocks), blocks_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto block = static_cast<std::size_t>(begin); block < static_cast<std::size_t>(end); ++block)
            body(block, checksum(blocks[block].bytes));
    });
}
/// What of a frame's head can be read without its directory: nothing where that cannot be, for a frame of `limit`
/// packed bytes at most and `blocks` blocks.
std::optional<FrameHead> read_frame_head(ByteSpan bytes, std::size_t limit, int blocks);
/// Whether the check of a head is right; `directory` are the packed bytes before the blocks.
bool is_frame_head_whole(ByteSpan head, ByteSpan directory);

/// What the index has of a frame.
struct IndexEntry {
    std::int64_t offset = 0;  ///< of its head in the file
    std::int64_t bytes = 0;   ///< of all of it
    std::int64_t ticks = 0;
    bool whole = false;
};

/// The index as it grows, some four bytes for each frame.
class IndexWriter {
public:
    void add(std::int64_t bytes, std::int64_t ticks, bool whole);
    /// The index and the end of a file in which it stands at `offset`.
    Bytes finish(std::int64_t offset) const;

private:
    Bytes entries_;
    std::uint32_t frames_ = 0;
    std::int64_t last_ticks_ = 0, last_step_ = 0;
};

/// Reads the index's entries from numbers that come one after the other.
class IndexReader {
public:
    /// The next frame, from its two numbers; nothing where they cannot be.
    std::optional<IndexEntry> next(std::uint64_t size, std::uint64_t time);

private:
    std::int64_t offset_ = first_record, ticks_ = 0, step_ = 0;
    bool began_ = false;
};

std::uint32_t u32_at(ByteSpan bytes, std::size_t at);
std::uint64_t u64_at(ByteSpan bytes, std::size_t at);
/// Where the index of a file stands that ends with `trailer`; nothing where that is no end.
std::optional<std::int64_t> read_trailer(ByteSpan trailer);

}  // namespace framewire::fwd
