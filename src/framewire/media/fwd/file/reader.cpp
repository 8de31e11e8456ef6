// Reads `.fwd` files that may be damaged anywhere. The index is optional: without one, frames are found by their
// marks. A frame counts only if its header's checksum is right and its number and time are later than those of the
// previous one; everything between two such frames is reported as lost.

#include "framewire/media/fwd/file/reader.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/media/threads.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace framewire::fwd {
namespace {

// Chunk size of the search for marks.
constexpr std::int64_t search_bytes = 1 << 16;
// Base of the limit on bytes examined as candidate headers during one search: a file made of false marks is abandoned.
constexpr std::int64_t least_budget_bytes = 16 << 20;
// Bounds of the read-ahead, which is otherwise the size of the previous frame.
constexpr std::int64_t least_read_bytes = 1024, most_read_bytes = 1 << 20;

// Number of blocks in a directory: those numbers that are even (sizes; odd ones count skipped blocks).
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

Reader::Reader(const std::string& path, const SourceOptions& options) : file_(path, options.stop), damage_(path) {
    if (file_.length_bytes() < 0 || !file_.go_to(0))
        fail(ErrorCode::no_input, "{} is no regular file; .fwd files are read at any place", path);
    read_both_headers(options);
    grid_ = delta::BlockGrid(header_.shape);
    // Frames that declare more cannot be valid, so no memory is allocated for them.
    packed_limit_ = delta::max_packed_bytes(header_.shape);
    find_index();
}

// Reads both copies of the header and reports a damaged or different one.
void Reader::read_both_headers(const SourceOptions& options) {
    const auto all = bytes_at(0, std::min<std::int64_t>(first_record, file_.length_bytes()));
    const auto first = all.first(std::min(all.size(), header_bytes)), second = all.subspan(first.size());
    const auto one = read_header(first, name()), other = read_header(second, name());
    if (!one && !other)
        fail(ErrorCode::no_input, "{} {}", name(),
             has_magic(first) || has_magic(second) ? "is a .fwd file whose header is damaged or cut off"
                                                   : "is no .fwd file");
    if (!one) damage_.say(0, "its header, at byte 0, is damaged; its copy is read");
    if (!other) damage_.say(header_bytes, "the copy of its header, at byte {}, is damaged", header_bytes);
    if (one && other && !std::equal(first.begin(), first.end(), second.begin()))
        damage_.say(header_bytes, "the copy of its header, at byte {}, is another one", header_bytes);
    header_ = one ? *one : *other;
    const auto& shape = header_.shape;
    if (std::int64_t{shape.width} * shape.height > options.max_pixels)
        fail(ErrorCode::no_input, "{}: its pictures of {}x{} are more than the {} pixels allowed", name(), shape.width,
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
    if (!whole) return damage_.say(*at, "its index, at byte {}, is damaged; frames are looked for without", *at);
    index_ = at;
    frames_ = frames;
    pictures_ = std::move(pictures);
}

// Reads the index and calls `each` for its frames. Returns false if it is damaged; the calls so far are then
// meaningless.
bool Reader::read_index(std::int64_t offset, const std::function<void(const IndexEntry&)>& each) {
    const auto last = file_.length_bytes() - static_cast<std::int64_t>(trailer_bytes);
    if (last - offset < static_cast<std::int64_t>(index_head_bytes)) return false;
    const auto head = bytes_at(offset, index_head_bytes);
    if (head.size() < index_head_bytes || !std::ranges::equal(head.first(4), index_mark())) return false;
    const auto check = u32_at(head, 4), frames = u32_at(head, 8), bytes = u32_at(head, 12);
    if (offset + static_cast<std::int64_t>(index_head_bytes) + bytes != last) return false;
    // The checksum is computed while the entries are read, so the index is never in memory as a whole.
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

// Reads the frame header at `offset`, if there is one that can follow the frame before.
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
    const auto checks = coded_blocks(directory.subspan(delta::PackedHead::bytes)) * std::int64_t{check_bytes};
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
    // The budget grows with the rest of the file, so that intact files are always read completely.
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
                    "{} lost, frame {}{} after {:.3f} s, at bytes {} to {}; what it shows stays until the next picture",
                    frame.lost == 1 ? "a frame is" : fmt::format("{} frames are", frame.lost), position_.number,
                    frame.lost == 1 ? "" : fmt::format(" to {}", frame.number - 1),
                    seconds(std::max<std::int64_t>(position_.last_ticks, 0)), from, at - 1);
        damage_.count_frames(from, frame.lost);
    } else if (at != from) {
        damage_.say(from, "bytes {} to {}, before frame {}, are no frame", from, at - 1, frame.number);
    }
    position_ = {at + frame.place.bytes, frame.number + 1, frame.place.ticks};
    last_bytes_ = frame.place.bytes;
    return true;
}

bool Reader::is_index(std::int64_t offset) { return !index_ && std::ranges::equal(bytes_at(offset, 4), index_mark()); }

// Next position with a frame mark; nullopt if there is none or the search budget is used up.
std::optional<std::int64_t> Reader::find_mark(std::int64_t from) {
    const auto mark = frame_mark();
    const auto overlap = std::ssize(mark) - 1;
    while (from + overlap < end_ && search_budget_bytes_ > 0 && !file_.stopped()) {
        last_bytes_ = search_bytes;
        const auto bytes = bytes_at(from, std::min(search_bytes, end_ - from));
        const auto found = std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end());
        if (found != bytes.end()) return from + (found - bytes.begin());
        if (std::ssize(bytes) <= overlap) break;
        // Chunks overlap by three bytes, because a mark may cross their border.
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
            damage_.say(from, "bytes {} to {} are no frame", from, end_ - 1);
        }
    } else if (from >= end_) {
        damage_.say(from, "it was not finished or is cut off: it ends {}, at byte {}, without an index", last, from);
    } else if (is_cut_) {
        damage_.say(from, "it was not finished or is cut off: it ends {}, at byte {}, within the next", last, from);
    } else if (is_index(from)) {
        damage_.say(from, "its index, at byte {}, is damaged or cut off", from);
    } else {
        damage_.say(from, "it is damaged or cut off: it ends {}, at byte {}; {} bytes behind it are no frame", last,
                    from, end_ - from);
    }
}

// Checks the blocks of a frame against their checksums. Returns false if the directory contradicts the sizes, although
// the header is intact.
bool Reader::read_blocks(Frame& frame) {
    const auto record = bytes_at(frame.place.offset, frame.place.bytes);
    if (std::ssize(record) < frame.place.bytes) return false;
    const auto packed_bytes = u32_at(record, 12);
    frame.packed = record.subspan(frame_head_bytes, packed_bytes);
    if (!delta::read_directory(frame.packed.subspan(delta::PackedHead::bytes), grid_.count(), frame.blocks))
        return false;
    const auto checks = record.subspan(frame_head_bytes + packed_bytes);
    frame.broken.assign(frame.blocks.size(), 0);
    // Blocks are checked in parallel.
    std::atomic<bool> intact = true;
    for_checks(frame.blocks, media_threads(), [&](std::size_t block, std::uint32_t check) {
        if (check == u32_at(checks, block * check_bytes)) return;
        frame.broken[block] = 1;
        intact = false;
    });
    frame.is_intact = intact;
    return true;
}

// Frames whose blocks do not fit together are reported, counted as lost, and skipped.
bool Reader::next(Frame& frame) {
    std::int64_t lost = 0;
    while (next_head(frame)) {
        lost += frame.lost;
        frame.lost = lost;
        if (read_blocks(frame)) return true;
        if (file_.stopped()) return false;
        damage_.say(frame.place.offset, "frame {} at {:.3f} s, at byte {}, makes no sense", frame.number,
                    seconds(frame.place.ticks), frame.place.offset);
        damage_.count_frames(frame.place.offset, 1);
        ++lost;
    }
    return false;
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

// The keyframe to start from must be intact; otherwise an earlier one is used.
bool Reader::go_to(double to_seconds) {
    if (!pictures_) find_pictures();
    const auto& all = *pictures_;
    if (all.empty()) return false;
    auto picture = std::upper_bound(all.begin(), all.end(), to_seconds, [&](double seconds_wanted, const Place& one) {
        return seconds_wanted < seconds(one.at.ticks);
    });
    if (picture != all.begin()) --picture;
    // Stay if the current position is between the keyframe and the target: decoding on is shorter.
    if (picture->at.offset < position_.offset && seconds(position_.last_ticks) < to_seconds) return true;
    for (Frame frame;; --picture) {
        position_ = {picture->at.offset, picture->number, -1};
        if (picture == all.begin() || (read_head(picture->at.offset, frame) && frame.number == picture->number &&
                                       read_blocks(frame) && frame.is_intact))
            return true;
    }
}

}  // namespace framewire::fwd
