#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace framewire::fwd {

/// Logging of a file's damage. It is off for further readers of a file whose damage another one reports.
enum class DamageLog { on, off };

/// Logs and counts a file's damage; each position is reported once.
class Damage {
public:
    /// `name` is the file's name for messages.
    explicit Damage(std::string name, DamageLog log = DamageLog::on) : name_(std::move(name)), log_(log) {}

    /// Reports damage at a byte offset. Only the first positions are logged.
    template <class... Values>
    void say(std::int64_t offset, fmt::format_string<Values...> text, Values&&... values) {
        if (is_new(offset)) log(fmt::format(text, std::forward<Values>(values)...));
    }
    /// Counts frames that are lost or incomplete at a byte offset, once per offset.
    void count_frames(std::int64_t offset, std::int64_t frames);

    /// Returns the number of lost or incomplete frames.
    std::int64_t frames() const { return frames_; }
    /// Returns true if there is any damage.
    bool any() const { return !first_.empty() || frames_ > 0; }
    /// Throws Error{source_lost} if there is any damage.
    void require_none() const;

private:
    bool is_new(std::int64_t offset);
    void log(const std::string& text);

    std::string name_, first_;
    DamageLog log_;
    std::set<std::int64_t> said_, counted_;  // offsets that were logged and counted
    std::int64_t frames_ = 0;
};

}  // namespace framewire::fwd

// Byte layout of `.fwd` files, as specified in format.md: little-endian, written and parsed field by field, with every
// number validated.

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
/// Size of the header; a file starts with two copies of it.
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
    Shape shape{};  ///< shape of one frame
    codec::Mode mode = codec::Mode::exact;
    int threshold = 0;               ///< requested threshold; each frame also stores its own
    Rational time_base{1, 1};        ///< seconds per time unit
    std::optional<Rational> rate{};  ///< frames per second, if known
    std::int64_t began_us = 0;       ///< time of day of the first frame, in microseconds since 1970 UTC; 0: unknown
    Rational pixel_aspect{1, 1};     ///< pixel width / height
};

/// Computes CRC-32C (Castagnoli) as in RFC 3720.
std::uint32_t checksum(ByteSpan bytes);

/// Appends one copy of the header. Throws Error{usage} if a field is out of the format's range.
void put_header(const Header& header, Bytes& out);
/// Returns true if `bytes` start with the magic of a `.fwd` file.
bool has_magic(ByteSpan bytes);
/// Parses a header of `header_bytes` bytes; nullopt if its checksum is wrong. If the checksum is right, throws
/// Error{no_input} (with `name` of the file) on invalid fields and Error{config} on another format version.
std::optional<Header> read_header(ByteSpan bytes, const std::string& name);

/// Header of one frame.
struct FrameHead {
    std::uint32_t number = 0;  ///< index in the file, from 0
    std::int64_t ticks = 0;
    bool whole = false;  ///< true: keyframe; false: delta frame
    std::uint32_t packed_bytes = 0;
    std::uint32_t directory_bytes = 0;  ///< size of the directory, which precedes the blocks in the packed bytes
};

/// Returns true if packed bytes are a keyframe.
bool is_picture(ByteSpan packed);

/// Returns the four bytes with which a frame starts.
ByteSpan frame_mark();
/// Returns the four bytes with which the index starts.
ByteSpan index_mark();

/// Appends a frame: its header, whose sizes are taken from `packed`, then `packed`, then a checksum for each block in
/// `blocks`. The threads of `pool` compute the checksums.
void put_frame(const FrameHead& head, ByteSpan packed, std::span<const codec::CodedBlock> blocks,
               const ThreadPool& pool, Bytes& out);
/// Calls body(index in `blocks`, checksum of that block), on several threads if there are many blocks.
template <class Body>
void for_checks(std::span<const codec::CodedBlock> blocks, const ThreadPool& pool, Body&& body) {
    constexpr std::int64_t blocks_at_once = 32;
    pool.for_chunks(std::ssize(blocks), blocks_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto block = static_cast<std::size_t>(begin); block < static_cast<std::size_t>(end); ++block)
            body(block, checksum(blocks[block].bytes));
    });
}
/// Parses the part of a frame header that does not need the directory; nullopt if it is invalid for a frame of at most
/// `limit` packed bytes and `blocks` blocks.
std::optional<FrameHead> read_frame_head(ByteSpan bytes, std::size_t limit, int blocks);
/// Returns true if the checksum of a frame header is right; `directory` is the part of the packed bytes before the
/// blocks.
bool is_frame_head_whole(ByteSpan head, ByteSpan directory);

/// Index entry of a frame.
struct IndexEntry {
    std::int64_t offset = 0;  ///< position of the frame's header in the file
    std::int64_t bytes = 0;   ///< total size of the frame
    std::int64_t ticks = 0;
    bool whole = false;
};

/// Builds the index, about four bytes per frame.
class IndexWriter {
public:
    /// Adds the next frame of the file.
    void add(std::int64_t bytes, std::int64_t ticks, bool whole);
    /// Returns the index and the trailer, for a file in which the index starts at `offset`.
    Bytes finish(std::int64_t offset) const;

private:
    Bytes entries_;
    std::uint32_t frames_ = 0;
    std::int64_t last_ticks_ = 0, last_step_ = 0;
};

/// Decodes index entries from consecutive numbers.
class IndexReader {
public:
    /// Decodes the entry of the next frame from its two numbers; nullopt if they are invalid.
    std::optional<IndexEntry> next(std::uint64_t size, std::uint64_t time);

private:
    std::int64_t offset_ = first_record, ticks_ = 0, step_ = 0;
    bool began_ = false;
};

/// Returns the little-endian 32-bit number at an offset, which the caller has checked.
std::uint32_t u32_at(ByteSpan bytes, std::size_t at);
/// Returns the little-endian 64-bit number at an offset, which the caller has checked.
std::uint64_t u64_at(ByteSpan bytes, std::size_t at);
/// Returns the file offset of the index, from the trailer; nullopt if `trailer` is not one.
std::optional<std::int64_t> read_trailer(ByteSpan trailer);

/// Reads the packed frames of a `.fwd` file, with or without its index. The content is treated as hostile: damage is
/// reported and skipped. Not thread-safe.
class Reader {
public:
    /// Frame as stored in the file.
    struct Frame {
        std::uint32_t number = 0;
        std::int64_t lost = 0;  ///< number of missing frames between the previously read frame and this one
        IndexEntry place{};
        ByteSpan packed{};                      ///< bytes of the frame, valid until the next frame is read
        std::vector<codec::CodedBlock> blocks;  ///< blocks of `packed`
        std::vector<std::uint8_t> broken;       ///< per block: nonzero if its checksum is wrong
        bool is_intact = false;                 ///< true if no block is broken
    };

    /// Opens a file. Throws Error{no_input} if it is not a `.fwd` file, Error{config} if it has another format version.
    Reader(const std::string& path, const SourceOptions& options, DamageLog log = DamageLog::on);

    /// Returns the header of the file.
    const Header& header() const { return header_; }
    /// Returns the name of the file, for messages.
    const std::string& name() const { return file_.name(); }
    /// Converts a frame's time from ticks to seconds.
    double seconds(std::int64_t ticks) const {
        return static_cast<double>(ticks) * static_cast<double>(header_.time_base.numerator) /
               static_cast<double>(header_.time_base.denominator);
    }
    /// Returns the number of frames, if the file has an index.
    std::optional<std::int64_t> frames() const { return frames_; }
    /// Returns the damage found so far.
    Damage& damage() { return damage_; }
    /// Returns the damage found so far, read-only.
    const Damage& damage() const { return damage_; }

    /// Reads the next frame; returns false at the end and after a stop request.
    bool next(Frame& frame);
    /// Reads only the header of the next frame and which blocks it codes; skips their content, whose damage is
    /// therefore not found. Sets `number`, `lost` and `place` of `frame`. Returns false as next() does.
    bool next_sizes(Frame& frame, std::vector<codec::BlockSize>& sizes);
    /// Seeks to an intact keyframe from which the first frame at or after `seconds` can be decoded, or stays at the
    /// current position if that is closer. Returns false and stays if there is no keyframe.
    bool go_to(double seconds);
    /// Calls each(place) for all frames, from the index or, without one, by searching the file.
    void for_each_place(const std::function<void(const IndexEntry& place)>& each);

private:
    // Keyframe of the file.
    struct Place {
        std::uint32_t number;
        IndexEntry at;
    };
    // State of sequential reading.
    struct Position {
        std::int64_t offset = first_record;
        std::uint32_t number = 0;  // number of the next frame
        std::int64_t last_ticks = -1;
    };

    // Reads both copies of the header.
    void read_both_headers(const SourceOptions& options);
    // Reads the index, if the file has an intact one.
    void find_index();
    // Calls `each` for the entries of an index.
    bool read_index(std::int64_t offset, const std::function<void(const IndexEntry&)>& each);
    // Lists keyframes without an index.
    void find_pictures();
    // Finds the next frame header, skipping damage.
    bool next_head(Frame& frame);
    // Reads the frame header at an offset.
    bool read_head(std::int64_t offset, Frame& frame);
    // Verifies the blocks of a frame.
    bool read_blocks(Frame& frame);
    // Lists the blocks of a frame from its directory.
    bool read_sizes(const Frame& frame, std::vector<codec::BlockSize>& sizes);
    // Reads frames until `read` accepts one; reports the others.
    template <class Read>
    bool next_accepted(Frame& frame, Read&& read);
    // Returns true if an unreadable index starts at `offset`.
    bool is_index(std::int64_t offset);
    // Returns the next position with a frame mark.
    std::optional<std::int64_t> find_mark(std::int64_t from);
    // Reports what follows the last frame.
    void say_end(std::int64_t from);
    // Reads through a buffer; returns fewer bytes at the end of the file.
    ByteSpan bytes_at(std::int64_t offset, std::int64_t bytes);

    InputFile file_;
    Damage damage_;
    Header header_;
    codec::BlockGrid grid_{Shape{1, 1, 1, 1}};
    std::size_t packed_limit_ = 0;
    std::int64_t end_ = 0;               // end of the frames: start of the index, or end of the file
    std::optional<std::int64_t> index_;  // offset of the index, if it is intact
    std::optional<std::int64_t> frames_;
    std::optional<std::vector<Place>> pictures_;
    Position position_;
    bool is_cut_ = false;  // the last header read is intact, but its frame is truncated
    Bytes buffer_;         // file content, starting at buffer_offset_
    std::int64_t buffer_offset_ = 0, last_bytes_ = 0;
    std::int64_t search_budget_bytes_ = 0;
};

/// Properties of a `.fwd` file that are known before its first frame.
struct Recording {
    Shape shape{};
    codec::Mode mode = codec::Mode::exact;
    int threshold = 0;
    Rational rate{30, 1};
    Rational pixel_aspect{1, 1};
    bool live = false;                      ///< true if frames have a time of day
    std::optional<double> begin_seconds{};  ///< source time that is 0 in the file; default: time of the first frame
};

/// Writes packed frames to a `.fwd` file: a frame is in the file when write() returns, and finish() adds the index. Not
/// thread-safe.
class Writer {
public:
    /// Opens the file. Threads of `pool`, which must outlive this object, compute checksums. Throws Error{io}.
    Writer(const std::string& path, const Recording& recording, const OutputFileOptions& options,
           const ThreadPool& pool);

    /// Writes one frame encoded by a delta packer. The first frame must be a keyframe. Throws Error{io}.
    void write(ByteSpan packed, const FrameTime& time);

    /// Writes the index and gives the file its name. Throws Error{io}.
    void finish(Ending ending);

    /// Returns the number of bytes written so far.
    std::int64_t bytes() const { return file_.bytes(); }
    /// Returns the name of the file, for messages.
    const std::string& name() const { return file_.name(); }

private:
    // Writes both copies of the header.
    void begin(const FrameTime& time);
    // Returns the time of a frame in units of the time base, later than that of the previous frame.
    std::int64_t ticks_of(const FrameTime& time);

    OutputFile file_;
    Recording recording_;
    Rational time_base_;
    const ThreadPool* pool_;
    IndexWriter index_;
    Bytes record_;  // bytes of the frame being written
    std::vector<codec::CodedBlock> coded_;
    std::optional<double> first_seconds_;
    std::uint32_t frames_ = 0;
    std::int64_t last_ticks_ = -1;
    double shifted_seconds_ = 0;
    bool warned_ = false;
};

}  // namespace framewire::fwd
