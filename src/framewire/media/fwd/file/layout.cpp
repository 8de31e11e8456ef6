// Serialization of `.fwd` files. Fields are appended and parsed byte by byte, so the format does not depend on the
// host's byte order or on struct padding, and parsing never reads past a span.

#include "framewire/media/fwd/file/layout.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace framewire::fwd {
namespace {

// Like PNG's signature, it reveals damage by transfers in text mode.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'F', 'W', 'D', '\r', '\n', 0x1a, '\n'};
// The last bytes of the two marks differ in every bit.
constexpr std::array<std::uint8_t, 4> frame_begins{0xf5, 'F', 'W', 0xa3}, index_begins{0xf5, 'F', 'W', 0x5c};
constexpr std::array<std::uint8_t, 4> file_ends{0xf5, 'F', 'W', '.'};
constexpr std::uint32_t whole_flag = 1;
// Offsets of the checksum, and of the bytes that it covers, in a frame and in the index.
constexpr std::size_t check_at = 4, checked_from = 8;
constexpr std::size_t most_number_bytes = 4;       // longest number in a directory
constexpr std::int64_t longest_term = 0x7fffffff;  // of fractions

// Appending and reading of little-endian fields.
void put_bytes(ByteSpan bytes, Bytes& out) { out.insert(out.end(), bytes.begin(), bytes.end()); }

template <class Number>
void put(Number number, Bytes& out) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        out.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
}
void put_u32(std::int64_t number, Bytes& out) { put(static_cast<std::uint32_t>(number), out); }

void set_u32(std::uint32_t number, std::uint8_t* at) {
    for (int byte = 0; byte < 4; ++byte) at[byte] = static_cast<std::uint8_t>(number >> (8 * byte));
}

void put_ratio(Rational ratio, Bytes& out) {
    put_u32(ratio.numerator, out);
    put_u32(ratio.denominator, out);
}

Rational ratio_at(ByteSpan bytes, std::size_t at) { return {u32_at(bytes, at), u32_at(bytes, at + 4)}; }

// True if both terms are in the range of the format.
bool is_allowed(Rational ratio) {
    const auto allowed = [](std::int64_t term) { return term >= 1 && term <= longest_term; };
    return allowed(ratio.numerator) && allowed(ratio.denominator);
}

// True if `bytes` start with `mark`.
bool begins_with(ByteSpan bytes, ByteSpan mark) {
    return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

// LEB128: seven bits per byte, lowest first.
void put_number(std::uint64_t number, Bytes& out) {
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
    out.push_back(static_cast<std::uint8_t>(number));
}

// Zigzag encoding: maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ..., so that small numbers of either sign become short.
std::uint64_t folded(std::int64_t number) {
    return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unfolded(std::uint64_t number) {
    return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

}  // namespace

std::uint32_t u32_at(ByteSpan bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) number |= std::uint32_t{bytes[at + byte]} << (8 * byte);
    return number;
}
std::uint64_t u64_at(ByteSpan bytes, std::size_t at) {
    return u32_at(bytes, at) | std::uint64_t{u32_at(bytes, at + 4)} << 32;
}

// boost::crc_optimal with the Castagnoli polynomial, reflected.
std::uint32_t checksum(ByteSpan bytes) {
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

void put_header(const Header& header, Bytes& out) {
    validate(header.shape, "the frames of a .fwd file");
    if (!is_allowed(header.time_base) || !is_allowed(header.pixel_aspect) || (header.rate && !is_allowed(*header.rate)))
        fail(ErrorCode::usage, "a .fwd file's ratios have terms from 1 to {}", longest_term);
    const auto begin = out.size();
    put_bytes(magic, out);
    put(version, out);
    put_u32(header.shape.width, out);
    put_u32(header.shape.height, out);
    out.push_back(static_cast<std::uint8_t>(header.shape.channels));
    out.push_back(static_cast<std::uint8_t>(header.mode));
    out.push_back(static_cast<std::uint8_t>(header.threshold));
    out.push_back(0);
    put_ratio(header.time_base, out);
    put_ratio(header.rate.value_or(Rational{0, 0}), out);
    put(static_cast<std::uint64_t>(header.began_us), out);
    put_ratio(header.pixel_aspect, out);
    put_u32(0, out);
    put(checksum(ByteSpan(out).subspan(begin)), out);
}

bool has_magic(ByteSpan bytes) { return begins_with(bytes, magic); }

// The checksum is verified first: a header with a wrong checksum is damage, one with invalid fields an error.
std::optional<Header> read_header(ByteSpan bytes, const std::string& name) {
    if (bytes.size() != header_bytes || !has_magic(bytes) ||
        checksum(bytes.first(header_bytes - check_bytes)) != u32_at(bytes, header_bytes - check_bytes))
        return std::nullopt;
    if (const auto its = u32_at(bytes, 8); its != version)
        fail(ErrorCode::config, "{} is a .fwd file of version {}; this build reads version {}", name, its, version);
    const auto side = [&](std::size_t at) -> int {
        const auto pixels = u32_at(bytes, at);
        if (pixels < 1 || pixels > static_cast<std::uint32_t>(max_side_px))
            fail(ErrorCode::no_input, "{} says that its pictures are {}x{}; up to {} are allowed", name,
                 u32_at(bytes, 12), u32_at(bytes, 16), max_side_px);
        return static_cast<int>(pixels);
    };
    Header header;
    const int width = side(12), height = side(16);
    const int channels = bytes[20], mode = bytes[21];
    if ((channels != 1 && channels != 3) || mode > static_cast<int>(delta::Mode::bounded) || bytes[22] > 254)
        fail(ErrorCode::no_input, "{} says that it has {} channels, the mode {} and the threshold {}", name, channels,
             mode, bytes[22]);
    header.shape = {1, height, width, channels};
    header.mode = static_cast<delta::Mode>(mode);
    header.threshold = bytes[22];
    header.time_base = ratio_at(bytes, 24);
    if (const auto rate = ratio_at(bytes, 32); rate.numerator != 0 || rate.denominator != 0) header.rate = rate;
    header.began_us = static_cast<std::int64_t>(u64_at(bytes, 40));
    header.pixel_aspect = ratio_at(bytes, 48);
    if (!is_allowed(header.time_base) || !is_allowed(header.pixel_aspect) ||
        (header.rate && (!is_allowed(*header.rate) || header.rate->value() > 1000)))
        fail(ErrorCode::no_input, "{} says a time base, a rate or an aspect that cannot be", name);
    return header;
}

bool is_picture(ByteSpan packed) {
    using Kind = delta::PackedHead::Kind;
    const auto kind = static_cast<Kind>(packed[0]);
    return kind == Kind::picture || kind == Kind::first_picture;
}

ByteSpan frame_mark() { return frame_begins; }
ByteSpan index_mark() { return index_begins; }

// The checksum field is filled in last; it covers the header behind it and the directory. Blocks have their own
// checksums behind the packed bytes.
void put_frame(const FrameHead& head, ByteSpan packed, std::span<const delta::CodedBlock> blocks,
               const ThreadPool& pool, Bytes& out) {
    std::size_t block_bytes = 0;
    for (const auto& block : blocks) block_bytes += block.bytes.size();
    const auto directory_bytes = packed.size() - block_bytes;
    const auto begin = out.size();
    put_bytes(frame_begins, out);
    put_u32(0, out);
    put(head.number, out);
    put_u32(static_cast<std::int64_t>(packed.size()), out);
    put(static_cast<std::uint64_t>(head.ticks), out);
    put_u32(static_cast<std::int64_t>(directory_bytes), out);
    put(head.whole ? whole_flag : 0, out);
    put_bytes(packed, out);
    const auto checked = ByteSpan(out).subspan(begin + checked_from);
    set_u32(checksum(checked.first(frame_head_bytes - checked_from + directory_bytes)), out.data() + begin + check_at);
    const auto checks = out.size();
    out.resize(checks + blocks.size() * check_bytes);
    for_checks(blocks, pool, [&](std::size_t block, std::uint32_t check) {
        set_u32(check, out.data() + checks + block * check_bytes);
    });
}

std::optional<FrameHead> read_frame_head(ByteSpan bytes, std::size_t limit, int blocks) {
    if (bytes.size() < frame_head_bytes || !begins_with(bytes, frame_begins)) return std::nullopt;
    const FrameHead head{u32_at(bytes, 8), static_cast<std::int64_t>(u64_at(bytes, 16)), u32_at(bytes, 28) != 0,
                         u32_at(bytes, 12), u32_at(bytes, 24)};
    // A directory has at most two numbers per block: the skipped blocks before it, and its size.
    const auto most_directory_bytes = 2 + most_number_bytes * 2 * static_cast<std::size_t>(blocks);
    if (u32_at(bytes, 28) > whole_flag || head.ticks < 0 || head.ticks > max_ticks || head.packed_bytes > limit ||
        head.directory_bytes < 2 ||
        head.directory_bytes > std::min<std::size_t>(head.packed_bytes, most_directory_bytes))
        return std::nullopt;
    return head;
}

// The checksum covers the header from the frame number, and the directory.
bool is_frame_head_whole(ByteSpan head, ByteSpan directory) {
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
    crc.process_bytes(head.data() + checked_from, frame_head_bytes - checked_from);
    crc.process_bytes(directory.data(), directory.size());
    return crc.checksum() == u32_at(head, check_at);
}

// An entry is two numbers: twice the size plus the keyframe flag, and the change of the frame interval, which is 0 for
// a constant rate.
void IndexWriter::add(std::int64_t bytes, std::int64_t ticks, bool whole) {
    if (frames_ == std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::io, "a .fwd file has room for {} frames", frames_);
    const auto step = ticks - last_ticks_;
    put_number(static_cast<std::uint64_t>(bytes) * 2 + (whole ? 1 : 0), entries_);
    put_number(folded(step - last_step_), entries_);
    last_ticks_ = ticks;
    last_step_ = step;
    ++frames_;
}

Bytes IndexWriter::finish(std::int64_t offset) const {
    Bytes out;
    put_bytes(index_begins, out);
    put_u32(0, out);
    put(frames_, out);
    put_u32(static_cast<std::int64_t>(entries_.size()), out);
    put_bytes(entries_, out);
    set_u32(checksum(ByteSpan(out).subspan(checked_from)), out.data() + check_at);
    const auto end = out.size();
    put(static_cast<std::uint64_t>(offset), out);
    put(checksum(ByteSpan(out).subspan(end)), out);
    put_bytes(file_ends, out);
    return out;
}

std::optional<IndexEntry> IndexReader::next(std::uint64_t size, std::uint64_t time) {
    constexpr std::uint64_t longest = std::uint64_t{1} << 40;  // far larger than any frame
    // Sizes and offsets must be possible, so that sums cannot overflow.
    if (size / 2 < frame_head_bytes + 2 || size / 2 > longest || offset_ > std::numeric_limits<std::int64_t>::max() / 2)
        return std::nullopt;
    const auto change = unfolded(time);
    if (change < -2 * max_ticks || change > 2 * max_ticks) return std::nullopt;
    step_ += change;
    const auto ticks = ticks_ + step_;
    // Times must increase and stay in range.
    if (ticks < 0 || ticks > max_ticks || (began_ && step_ < 1)) return std::nullopt;
    began_ = true;
    const IndexEntry entry{offset_, static_cast<std::int64_t>(size / 2), ticks, size % 2 == 1};
    offset_ += entry.bytes;
    ticks_ = ticks;
    return entry;
}

// The trailer has its own checksum, so that random bytes are not taken for an offset.
std::optional<std::int64_t> read_trailer(ByteSpan trailer) {
    if (trailer.size() != trailer_bytes || !begins_with(trailer.subspan(12), file_ends) ||
        checksum(trailer.first(8)) != u32_at(trailer, 8))
        return std::nullopt;
    const auto offset = u64_at(trailer, 0);
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(offset);
}

}  // namespace framewire::fwd
