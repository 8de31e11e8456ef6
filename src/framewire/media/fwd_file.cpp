#include "framewire/media/fwd_file.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/media.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

// Logs only the first positions of damage, so that a badly damaged file does not fill the log; all damaged frames are
// counted.

namespace framewire::fwd {
namespace {

// Maximum number of logged positions.
constexpr std::size_t most_lines = 32;
constexpr std::size_t most_places = std::size_t{1} << 20;  // maximum number of remembered positions

}  // namespace

// Returns true for the first report of an offset, until the log is full.
bool Damage::is_new(std::int64_t offset) {
    if (said_.size() > most_lines) return false;
    return said_.insert(offset).second;
}

// Counts frames once per offset. When too many offsets are remembered, new ones are no longer added, and their frames
// may be counted twice.
void Damage::count_frames(std::int64_t offset, std::int64_t frames) {
    if (counted_.size() < most_places ? counted_.insert(offset).second : !counted_.contains(offset)) frames_ += frames;
}

void Damage::log(const std::string& text) {
    if (first_.empty()) first_ = text;
    if (log_ == DamageLog::off) return;
    if (said_.size() > most_lines)
        log_warning("{}: further damage is counted but not reported", name_);
    else
        log_warning("{}: {}", name_, text);
}

void Damage::require_none() const {
    if (!any()) return;
    const auto frames = frames_ == 0 ? std::string()
                                     : fmt::format("; {} of the frames read {} lost or incomplete", frames_,
                                                   frames_ == 1 ? "is" : "are");
    fail(ErrorCode::source_lost, "{} is damaged: {}{}", name_, first_, frames);
}

}  // namespace framewire::fwd

// Serialization of `.fwd` files. Fields are appended and parsed byte by byte, so the format does not depend on the
// host's byte order or on struct padding, and parsing never reads past a span.

namespace framewire::fwd {
namespace {

// Like PNG's signature, the magic reveals damage by transfers in text mode.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'F', 'W', 'D', '\r', '\n', 0x1a, '\n'};
// The last bytes of these two marks differ in every bit.
constexpr std::array<std::uint8_t, 4> frame_begins{0xf5, 'F', 'W', 0xa3}, index_begins{0xf5, 'F', 'W', 0x5c};
constexpr std::array<std::uint8_t, 4> file_ends{0xf5, 'F', 'W', '.'};
constexpr std::uint32_t whole_flag = 1;
// Offset of the checksum, and of the first byte that it covers, in a frame and in the index.
constexpr std::size_t check_at = 4, checked_from = 8;
constexpr std::size_t most_number_bytes = 4;       // longest number in a directory
constexpr std::int64_t longest_term = 0x7fffffff;  // limit for numerator and denominator

// Append and parse little-endian fields.
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

// Returns true if both terms are in the range of the format.
bool is_allowed(Rational ratio) {
    const auto allowed = [](std::int64_t term) { return term >= 1 && term <= longest_term; };
    return allowed(ratio.numerator) && allowed(ratio.denominator);
}

// Returns true if `bytes` start with `mark`.
bool begins_with(ByteSpan bytes, ByteSpan mark) {
    return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

// Appends a number in LEB128: seven bits per byte, lowest first.
void put_number(std::uint64_t number, Bytes& out) {
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
    out.push_back(static_cast<std::uint8_t>(number));
}

// Maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ... (zigzag encoding), so that small numbers of either sign become short.
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

// Computes CRC-32C with boost::crc_optimal: the Castagnoli polynomial, reflected.
std::uint32_t checksum(ByteSpan bytes) {
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

void put_header(const Header& header, Bytes& out) {
    validate(header.shape, "the frames of a .fwd file");
    if (!is_allowed(header.time_base) || !is_allowed(header.pixel_aspect) || (header.rate && !is_allowed(*header.rate)))
        fail(ErrorCode::usage, "the ratios in a .fwd file must have terms from 1 to {}", longest_term);
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

// Verifies the checksum first: a header with a wrong checksum is damage, one with invalid fields an error.
std::optional<Header> read_header(ByteSpan bytes, const std::string& name) {
    if (bytes.size() != header_bytes || !has_magic(bytes) ||
        checksum(bytes.first(header_bytes - check_bytes)) != u32_at(bytes, header_bytes - check_bytes))
        return std::nullopt;
    if (const auto its = u32_at(bytes, 8); its != version)
        fail(ErrorCode::config, "{} is a .fwd file of version {}; this build reads version {}", name, its, version);
    const auto side = [&](std::size_t at) -> int {
        const auto pixels = u32_at(bytes, at);
        if (pixels < 1 || pixels > static_cast<std::uint32_t>(max_side_px))
            fail(ErrorCode::no_input, "{} declares frames of {}x{}; allowed: sides of up to {} pixels", name,
                 u32_at(bytes, 12), u32_at(bytes, 16), max_side_px);
        return static_cast<int>(pixels);
    };
    Header header;
    const int width = side(12), height = side(16);
    const int channels = bytes[20], mode = bytes[21];
    if ((channels != 1 && channels != 3) || mode > static_cast<int>(codec::Mode::bounded) || bytes[22] > 254)
        fail(ErrorCode::no_input, "{} declares {} channels, mode {} and threshold {}", name, channels, mode, bytes[22]);
    header.shape = {1, height, width, channels};
    header.mode = static_cast<codec::Mode>(mode);
    header.threshold = bytes[22];
    header.time_base = ratio_at(bytes, 24);
    if (const auto rate = ratio_at(bytes, 32); rate.numerator != 0 || rate.denominator != 0) header.rate = rate;
    header.began_us = static_cast<std::int64_t>(u64_at(bytes, 40));
    header.pixel_aspect = ratio_at(bytes, 48);
    if (!is_allowed(header.time_base) || !is_allowed(header.pixel_aspect) ||
        (header.rate && (!is_allowed(*header.rate) || header.rate->value() > 1000)))
        fail(ErrorCode::no_input, "{} declares an invalid time base, rate or aspect ratio", name);
    return header;
}

bool is_picture(ByteSpan packed) {
    using Kind = codec::PackedHead::Kind;
    const auto kind = static_cast<Kind>(packed[0]);
    return kind == Kind::picture || kind == Kind::first_picture;
}

ByteSpan frame_mark() { return frame_begins; }
ByteSpan index_mark() { return index_begins; }

// Fills in the checksum field last; it covers the header after this field, and the directory. Blocks have their own
// checksums after the packed bytes.
void put_frame(const FrameHead& head, ByteSpan packed, std::span<const codec::CodedBlock> blocks,
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
    // A directory has at most two numbers per coded block: the number of skipped blocks before it, and its size.
    const auto most_directory_bytes = 2 + most_number_bytes * 2 * static_cast<std::size_t>(blocks);
    if (u32_at(bytes, 28) > whole_flag || head.ticks < 0 || head.ticks > max_ticks || head.packed_bytes > limit ||
        head.directory_bytes < 2 ||
        head.directory_bytes > std::min<std::size_t>(head.packed_bytes, most_directory_bytes))
        return std::nullopt;
    return head;
}

// Verifies the checksum, which covers the header from the frame number on, and the directory.
bool is_frame_head_whole(ByteSpan head, ByteSpan directory) {
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
    crc.process_bytes(head.data() + checked_from, frame_head_bytes - checked_from);
    crc.process_bytes(directory.data(), directory.size());
    return crc.checksum() == u32_at(head, check_at);
}

// Appends an entry of two numbers: twice the frame's size plus the keyframe flag, and the change of the frame interval,
// which is 0 for a constant rate.
void IndexWriter::add(std::int64_t bytes, std::int64_t ticks, bool whole) {
    if (frames_ == std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::io, "a .fwd file can hold at most {} frames", frames_);
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
    // Sizes and offsets must be plausible, so that sums cannot overflow.
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

// Verifies the trailer's own checksum, so that random bytes are not taken for an offset.
std::optional<std::int64_t> read_trailer(ByteSpan trailer) {
    if (trailer.size() != trailer_bytes || !begins_with(trailer.subspan(12), file_ends) ||
        checksum(trailer.first(8)) != u32_at(trailer, 8))
        return std::nullopt;
    const auto offset = u64_at(trailer, 0);
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(offset);
}

}  // namespace framewire::fwd

// Reads `.fwd` files that may be damaged anywhere. The index is optional: without one, frames are found by their marks.
// A frame counts only if its header's checksum is right and its number and time are later than those of the previous
// frame; everything between two such frames is reported as lost.

namespace framewire::fwd {
namespace {

// Chunk size of the search for marks.
constexpr std::int64_t search_bytes = 1 << 16;
// Base of the limit on the bytes that one search examines as candidate headers: a file made of false marks is
// abandoned.
constexpr std::int64_t least_budget_bytes = 16 << 20;
// Bounds of the read-ahead, which otherwise equals the size of the previous frame.
constexpr std::int64_t least_read_bytes = 1024, most_read_bytes = 1 << 20;
// Read-ahead over frames whose content is skipped; larger frames are jumped over.
constexpr std::int64_t skipped_bytes = 1 << 16;

// Counts the coded blocks in a directory. Even numbers are their sizes; odd ones count skipped blocks.
std::int64_t coded_blocks(ByteSpan directory) {
    std::int64_t blocks = 0;
    bool begins = true;
    for (const auto byte : directory) {
        if (begins && byte % 2 == 0) ++blocks;
        begins = byte < 0x80;
    }
    return blocks;
}

}  // namespace

Reader::Reader(const std::string& path, const SourceOptions& options, DamageLog log)
    : file_(path, options.stop), damage_(path, log) {
    if (file_.length_bytes() < 0 || !file_.go_to(0))
        fail(ErrorCode::no_input, "{} is not a regular file; .fwd files need random access", path);
    read_both_headers(options);
    grid_ = codec::BlockGrid(header_.shape);
    // Frames that declare more bytes cannot be valid, so no memory is allocated for them.
    packed_limit_ = codec::max_packed_bytes(header_.shape);
    find_index();
}

// Reads both copies of the header and reports a copy that is damaged or different.
void Reader::read_both_headers(const SourceOptions& options) {
    const auto all = bytes_at(0, std::min<std::int64_t>(first_record, file_.length_bytes()));
    const auto first = all.first(std::min(all.size(), header_bytes)), second = all.subspan(first.size());
    const auto one = read_header(first, name()), other = read_header(second, name());
    if (!one && !other)
        fail(ErrorCode::no_input, "{} {}", name(),
             has_magic(first) || has_magic(second) ? "is a .fwd file whose header is damaged or truncated"
                                                   : "is not a .fwd file");
    if (!one) damage_.say(0, "its header, at byte 0, is damaged; reading the copy");
    if (!other) damage_.say(header_bytes, "the copy of its header, at byte {}, is damaged", header_bytes);
    if (one && other && !std::equal(first.begin(), first.end(), second.begin()))
        damage_.say(header_bytes, "the copy of its header, at byte {}, differs from the header", header_bytes);
    header_ = one ? *one : *other;
    const auto& shape = header_.shape;
    if (std::int64_t{shape.width} * shape.height > options.max_pixels)
        fail(ErrorCode::no_input, "{}: its frames of {}x{} exceed the limit of {} pixels", name(), shape.width,
             shape.height, options.max_pixels);
}

// Reads and validates the index, if the file ends with a trailer. A damaged index is reported and ignored.
void Reader::find_index() {
    end_ = file_.length_bytes();
    if (end_ < first_record + static_cast<std::int64_t>(trailer_bytes)) return;
    const auto at = read_trailer(bytes_at(end_ - static_cast<std::int64_t>(trailer_bytes), trailer_bytes));
    if (!at || *at < first_record || *at > end_ - static_cast<std::int64_t>(trailer_bytes)) return;
    end_ = *at;
    std::vector<Place> pictures;
    std::int64_t frames = 0;
    const bool whole = read_index(*at, [&](const IndexEntry& place) {
        if (place.whole) pictures.push_back({static_cast<std::uint32_t>(frames), place});
        ++frames;
    });
    if (!whole) return damage_.say(*at, "its index, at byte {}, is damaged; searching for frames without it", *at);
    index_ = at;
    frames_ = frames;
    pictures_ = std::move(pictures);
}

// Reads the index and calls `each` for its frames. Returns false if the index is damaged; the calls so far are then
// meaningless.
bool Reader::read_index(std::int64_t offset, const std::function<void(const IndexEntry&)>& each) {
    const auto last = file_.length_bytes() - static_cast<std::int64_t>(trailer_bytes);
    if (last - offset < static_cast<std::int64_t>(index_head_bytes)) return false;
    const auto head = bytes_at(offset, index_head_bytes);
    if (head.size() < index_head_bytes || !std::ranges::equal(head.first(4), index_mark())) return false;
    const auto check = u32_at(head, 4), frames = u32_at(head, 8), bytes = u32_at(head, 12);
    if (offset + static_cast<std::int64_t>(index_head_bytes) + bytes != last) return false;
    // The checksum is computed while the entries are read, so that the index is never in memory as a whole.
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
    crc.process_bytes(head.data() + 8, 8);
    if (!file_.go_to(offset + static_cast<std::int64_t>(index_head_bytes))) return false;
    std::uint32_t left = bytes;
    const auto number = [&]() -> std::optional<std::uint64_t> {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64 && left > 0; shift += 7) {
            const int byte = file_.get();
            if (byte < 0) return std::nullopt;
            --left;
            crc.process_byte(static_cast<unsigned char>(byte));
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return std::nullopt;
    };
    IndexReader entries;
    auto next_offset = first_record;
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
        const auto size = number(), time = number();
        const auto place = size && time ? entries.next(*size, *time) : std::nullopt;
        if (!place) return false;
        next_offset = place->offset + place->bytes;
        if (next_offset > offset) return false;
        each(*place);
    }
    return left == 0 && next_offset == offset && crc.checksum() == check;
}

// Reads part of the file through a buffer; the result is valid until the next call.
ByteSpan Reader::bytes_at(std::int64_t offset, std::int64_t bytes) {
    const auto have = std::ssize(buffer_);
    if (offset < buffer_offset_ || offset + bytes > buffer_offset_ + have) {
        const auto left = std::max<std::int64_t>(0, file_.length_bytes() - offset);
        const auto wanted = std::min(left, std::max(bytes, std::clamp(last_bytes_, least_read_bytes, most_read_bytes)));
        buffer_.resize(static_cast<std::size_t>(wanted));
        buffer_offset_ = offset;
        buffer_.resize(file_.go_to(offset) ? file_.read(buffer_.data(), buffer_.size()) : 0);
    }
    const auto rest = ByteSpan(buffer_).subspan(static_cast<std::size_t>(offset - buffer_offset_));
    return rest.first(std::min(rest.size(), static_cast<std::size_t>(bytes)));
}

// Reads the frame header at `offset`, if there is one that can follow the previous frame.
bool Reader::read_head(std::int64_t offset, Frame& frame) {
    is_cut_ = false;
    const auto left = end_ - offset;
    if (left < static_cast<std::int64_t>(frame_head_bytes)) return false;
    const auto head = read_frame_head(bytes_at(offset, frame_head_bytes), packed_limit_, grid_.count());
    if (!head || head->number < position_.number || head->ticks <= position_.last_ticks) return false;
    const auto head_bytes = static_cast<std::int64_t>(frame_head_bytes + head->directory_bytes);
    if (left < head_bytes) return false;
    const auto all = bytes_at(offset, head_bytes);
    if (std::ssize(all) < head_bytes) return false;
    const auto directory = all.subspan(frame_head_bytes);
    search_budget_bytes_ -= head_bytes;
    if (!is_frame_head_whole(all, directory) || head->whole != is_picture(directory)) return false;
    const auto checks = coded_blocks(directory.subspan(codec::PackedHead::bytes)) * std::int64_t{check_bytes};
    const auto bytes = std::int64_t{frame_head_bytes} + head->packed_bytes + checks;
    is_cut_ = left < bytes;
    if (is_cut_) return false;
    frame.number = head->number;
    frame.lost = std::int64_t{head->number} - position_.number;
    frame.place = {offset, bytes, head->ticks, head->whole};
    return true;
}

// Finds the next frame header and reports what was skipped.
bool Reader::next_head(Frame& frame) {
    const auto from = position_.offset;
    // The budget grows with the rest of the file, so that intact files are always searched completely.
    search_budget_bytes_ = least_budget_bytes + 64 * (file_.length_bytes() - from);
    auto at = from;
    while (!file_.stopped() && at < end_ && !read_head(at, frame)) {
        const bool cut = is_cut_ && at == from;
        const auto next = is_index(at) ? std::nullopt : find_mark(at + 1);
        if (!next) {
            is_cut_ = cut;
            at = end_;
            break;
        }
        at = *next;
    }
    if (file_.stopped()) return false;
    if (at >= end_) {
        say_end(from);
        position_.offset = end_;
        return false;
    }
    if (frame.lost > 0) {
        damage_.say(from,
                    "{} lost after {:.3f} s, at bytes {} to {}; the picture stays unchanged until the next keyframe",
                    frame.lost == 1 ? fmt::format("frame {} is", position_.number)
                                    : fmt::format("frames {} to {} are", position_.number, frame.number - 1),
                    seconds(std::max<std::int64_t>(position_.last_ticks, 0)), from, at - 1);
        damage_.count_frames(from, frame.lost);
    } else if (at != from) {
        damage_.say(from, "bytes {} to {}, before frame {}, do not form a frame", from, at - 1, frame.number);
    }
    position_ = {at + frame.place.bytes, frame.number + 1, frame.place.ticks};
    last_bytes_ = frame.place.bytes;
    return true;
}

bool Reader::is_index(std::int64_t offset) { return !index_ && std::ranges::equal(bytes_at(offset, 4), index_mark()); }

// Returns the next position with a frame mark; nullopt if there is none or the search budget is used up.
std::optional<std::int64_t> Reader::find_mark(std::int64_t from) {
    const auto mark = frame_mark();
    const auto overlap = std::ssize(mark) - 1;
    while (from + overlap < end_ && search_budget_bytes_ > 0 && !file_.stopped()) {
        last_bytes_ = search_bytes;
        const auto bytes = bytes_at(from, std::min(search_bytes, end_ - from));
        const auto found = std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end());
        if (found != bytes.end()) return from + (found - bytes.begin());
        if (std::ssize(bytes) <= overlap) break;
        // Let chunks overlap by three bytes, because a mark may cross their border.
        from += std::ssize(bytes) - overlap;
    }
    return std::nullopt;
}

// Reports what follows the last frame.
void Reader::say_end(std::int64_t from) {
    const auto last = position_.number == 0 ? std::string("before its first frame")
                                            : fmt::format("after frame {}", position_.number - 1);
    if (index_ || (end_ < file_.length_bytes() && from >= end_)) {
        if (frames_ && *frames_ > position_.number) {
            damage_.say(from, "frames {} to {} are lost, at bytes {} to {}", position_.number, *frames_ - 1, from,
                        end_ - 1);
            damage_.count_frames(from, *frames_ - position_.number);
        } else if (from < end_) {
            damage_.say(from, "bytes {} to {} do not form a frame", from, end_ - 1);
        }
    } else if (from >= end_) {
        damage_.say(from, "it is unfinished or truncated: it ends {}, at byte {}, without an index", last, from);
    } else if (is_cut_) {
        damage_.say(from, "it is unfinished or truncated: it ends {}, at byte {}, within the next frame", last, from);
    } else if (is_index(from)) {
        damage_.say(from, "its index, at byte {}, is damaged or truncated", from);
    } else {
        damage_.say(from,
                    "it is damaged or truncated: it ends {}, at byte {}; the {} bytes after it do not form a frame",
                    last, from, end_ - from);
    }
}

// Verifies the checksums of a frame's blocks. Returns false if the directory contradicts the sizes, although
// the header is intact.
bool Reader::read_blocks(Frame& frame) {
    const auto record = bytes_at(frame.place.offset, frame.place.bytes);
    if (std::ssize(record) < frame.place.bytes) return false;
    const auto packed_bytes = u32_at(record, 12);
    frame.packed = record.subspan(frame_head_bytes, packed_bytes);
    if (!codec::read_directory(frame.packed.subspan(codec::PackedHead::bytes), grid_.count(), frame.blocks))
        return false;
    const auto checks = record.subspan(frame_head_bytes + packed_bytes);
    frame.broken.assign(frame.blocks.size(), 0);
    // Check the blocks in parallel.
    std::atomic<bool> intact = true;
    for_checks(frame.blocks, media_threads(), [&](std::size_t block, std::uint32_t check) {
        if (check == u32_at(checks, block * check_bytes)) return;
        frame.broken[block] = 1;
        intact = false;
    });
    frame.is_intact = intact;
    return true;
}

// Lists the blocks that the directory of a frame names. Returns false if the directory contradicts the sizes, although
// the header is intact.
bool Reader::read_sizes(const Frame& frame, std::vector<codec::BlockSize>& sizes) {
    const auto head = read_frame_head(bytes_at(frame.place.offset, frame_head_bytes), packed_limit_, grid_.count());
    if (!head) return false;
    const auto head_bytes = static_cast<std::int64_t>(frame_head_bytes + head->directory_bytes);
    const auto all = bytes_at(frame.place.offset, head_bytes);
    if (std::ssize(all) < head_bytes) return false;
    // Small frames are read in larger chunks, and the content of large ones is not read at all.
    last_bytes_ = frame.place.bytes < skipped_bytes ? skipped_bytes : head_bytes;
    return codec::read_block_sizes(all.subspan(frame_head_bytes + codec::PackedHead::bytes),
                                   head->packed_bytes - head->directory_bytes, grid_.count(), sizes);
}

// Reads the next frame that `read` accepts. Frames whose directory contradicts their size are reported, counted as
// lost, and skipped.
template <class Read>
bool Reader::next_accepted(Frame& frame, Read&& read) {
    std::int64_t lost = 0;
    while (next_head(frame)) {
        lost += frame.lost;
        frame.lost = lost;
        if (read()) return true;
        if (file_.stopped()) return false;
        damage_.say(frame.place.offset, "frame {} at {:.3f} s, at byte {}, is invalid", frame.number,
                    seconds(frame.place.ticks), frame.place.offset);
        damage_.count_frames(frame.place.offset, 1);
        ++lost;
    }
    return false;
}

bool Reader::next(Frame& frame) {
    return next_accepted(frame, [&] { return read_blocks(frame); });
}

bool Reader::next_sizes(Frame& frame, std::vector<codec::BlockSize>& sizes) {
    return next_accepted(frame, [&] { return read_sizes(frame, sizes); });
}

void Reader::for_each_place(const std::function<void(const IndexEntry& place)>& each) {
    if (index_) return static_cast<void>(read_index(*index_, each));
    const auto before = std::exchange(position_, {});
    for (Frame frame; next_head(frame);) each(frame.place);
    position_ = before;
}

// Lists the keyframes of a file without an index by reading all headers.
void Reader::find_pictures() {
    pictures_.emplace();
    const auto before = std::exchange(position_, {});
    for (Frame frame; next_head(frame);)
        if (frame.place.whole) pictures_->push_back({frame.number, frame.place});
    position_ = before;
}

// Goes to an intact keyframe before the target; if one is damaged, uses an earlier one.
bool Reader::go_to(double to_seconds) {
    if (!pictures_) find_pictures();
    const auto& all = *pictures_;
    if (all.empty()) return false;
    auto picture = std::upper_bound(all.begin(), all.end(), to_seconds, [&](double seconds_wanted, const Place& one) {
        return seconds_wanted < seconds(one.at.ticks);
    });
    if (picture != all.begin()) --picture;
    // Stay if the current position is between the keyframe and the target: continuing from here is shorter.
    if (picture->at.offset < position_.offset && seconds(position_.last_ticks) < to_seconds) return true;
    for (Frame frame;; --picture) {
        position_ = {picture->at.offset, picture->number, -1};
        if (picture == all.begin() || (read_head(picture->at.offset, frame) && frame.number == picture->number &&
                                       read_blocks(frame) && frame.is_intact))
            return true;
    }
}

}  // namespace framewire::fwd

// Writes frames so that the file is usable after every write(): each frame is self-contained, and
// OutputFile::mark_whole() keeps the file if the process fails before finish().

namespace framewire::fwd {
namespace {

// A larger jump in the timestamps is treated as an error, in all recordings.
constexpr double longest_gap_s = 30.0 * 24 * 3600;

// Returns a time unit of at most a microsecond in which the frame period is a whole number.
Rational time_base_for(Rational rate) {
    constexpr std::int64_t least = 1'000'000, most = 0x7fffffff;
    if (rate.numerator < 1 || rate.numerator > most) return {1, least};
    return {1, rate.numerator * std::max<std::int64_t>(1, (least + rate.numerator - 1) / rate.numerator)};
}

// Returns the time of day of a frame, from its capture time if it has one.
std::int64_t time_of_day_us(const FrameTime& time) {
    using namespace std::chrono;
    auto now = system_clock::now();
    if (time.captured != Clock::time_point{})
        now -= duration_cast<system_clock::duration>(Clock::now() - time.captured);
    return duration_cast<microseconds>(now.time_since_epoch()).count();
}

}  // namespace

Writer::Writer(const std::string& path, const Recording& recording, const OutputFileOptions& options,
               const ThreadPool& pool)
    : file_(path, options), recording_(recording), time_base_(time_base_for(recording.rate)), pool_(&pool) {}

// Writes both copies of the header.
void Writer::begin(const FrameTime& time) {
    first_seconds_ = recording_.begin_seconds.value_or(time.seconds);
    Bytes header;
    put_header({.shape = recording_.shape,
                .mode = recording_.mode,
                .threshold = recording_.threshold,
                .time_base = time_base_,
                .rate = recording_.rate,
                .began_us = recording_.live ? time_of_day_us(time) : 0,
                .pixel_aspect = recording_.pixel_aspect},
               header);
    file_.write(header.data(), header.size());
    file_.write(header.data(), header.size());
}

// Returns the time of a frame: later than that of the previous one, whatever the source's clock says.
std::int64_t Writer::ticks_of(const FrameTime& time) {
    const double unit_s = time_base_.value();
    double seconds = time.seconds - *first_seconds_ + shifted_seconds_;
    const double last_s = static_cast<double>(std::max<std::int64_t>(last_ticks_, 0)) * unit_s;
    if (!(seconds <= last_s + longest_gap_s)) {
        if (!std::exchange(warned_, true))
            log_warning("{}: the time jumps from {:.0f} s to {:.0f} s; the recording continues without the gap",
                        file_.name(), last_s, seconds);
        const double next_s = last_s + 1 / recording_.rate.value();
        if (std::isfinite(seconds)) shifted_seconds_ += next_s - seconds;
        seconds = next_s;
    }
    const double ticks = std::max(seconds / unit_s, static_cast<double>(last_ticks_ + 1));
    if (ticks > static_cast<double>(max_ticks)) fail(ErrorCode::io, "{} cannot hold times this late", file_.name());
    return std::max<std::int64_t>(std::llround(ticks), last_ticks_ + 1);
}

void Writer::write(ByteSpan packed, const FrameTime& time) {
    const codec::BlockGrid grid(recording_.shape);
    if (packed.size() < codec::PackedHead::bytes ||
        !codec::read_directory(packed.subspan(codec::PackedHead::bytes), grid.count(), coded_) ||
        (frames_ == 0 && !is_picture(packed)))
        fail(ErrorCode::internal, "{} did not receive a keyframe first", file_.name());
    if (frames_ == std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::io, "{} cannot hold more than {} frames", file_.name(), frames_);
    if (frames_ == 0) begin(time);
    const FrameHead head{.number = frames_, .ticks = ticks_of(time), .whole = is_picture(packed)};
    record_.clear();
    put_frame(head, packed, coded_, *pool_, record_);
    file_.write(record_.data(), record_.size());
    file_.mark_whole();
    index_.add(std::ssize(record_), head.ticks, head.whole);
    last_ticks_ = head.ticks;
    ++frames_;
}

void Writer::finish(Ending ending) {
    if (frames_ > 0) {
        const auto index = index_.finish(file_.bytes());
        file_.write(index.data(), index.size());
        file_.mark_whole();
    }
    file_.finish(ending);
}

}  // namespace framewire::fwd
