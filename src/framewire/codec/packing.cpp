#include "framewire/codec/packing.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/changes_coder.hpp"
#include "framewire/codec/changes_decoder.hpp"
#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <numeric>

// Directory of a packed frame (format.md, "A frame"): numbers with 7 bits per byte. Odd numbers skip blocks. Even
// numbers are sizes, because blocks consist of 16-bit words.

namespace framewire::codec {
namespace {

constexpr int number_bits = 7;  // bits of a number per byte; the eighth bit means that more bytes follow
constexpr int max_number_bytes = 4;

// Reads a number and removes its bytes from `bytes`. Returns nothing if the number is truncated or too long.
std::optional<std::uint32_t> read_number(std::span<const std::uint8_t>& bytes) {
    std::uint32_t number = 0;
    for (int i = 0; i < max_number_bytes && !bytes.empty(); ++i) {
        const auto byte = bytes.front();
        bytes = bytes.subspan(1);
        number |= (byte & 0x7fu) << (number_bits * i);
        if (byte < 0x80) return number;
    }
    return std::nullopt;
}

}  // namespace

void DirectoryWriter::put(std::uint32_t number) {
    for (; number >= 0x80; number >>= number_bits) out_->push_back(static_cast<std::uint8_t>(number | 0x80));
    out_->push_back(static_cast<std::uint8_t>(number));
}

void DirectoryWriter::pass_over(int blocks) {
    if (blocks > 0) put(static_cast<std::uint32_t>(blocks) * 2 - 1);
}

void DirectoryWriter::add(int block, std::size_t bytes) {
    pass_over(block - next_);
    put(static_cast<std::uint32_t>(bytes));  // even, because blocks consist of 16-bit words
    next_ = block + 1;
}

void DirectoryWriter::finish(int blocks) { pass_over(blocks - next_); }

namespace {

// Removes the directory of a frame with `blocks` blocks from the front of `bytes` and calls take(block, size) for each
// coded block. Returns false if the directory is invalid. The input is untrusted.
template <class Take>
bool take_directory(std::span<const std::uint8_t>& bytes, int blocks, Take&& take) {
    int block = 0;
    while (block < blocks) {
        const auto number = read_number(bytes);
        if (!number) return false;
        if (*number % 2) {
            // An odd number skips blocks.
            const auto passed = (*number + 1) / 2;
            if (passed > static_cast<std::uint32_t>(blocks - block)) return false;
            block += static_cast<int>(passed);
            continue;
        }
        if (*number == 0) return false;  // a block has at least 4 bytes in every form
        take(block++, *number);
    }
    return true;
}

}  // namespace

bool read_directory(std::span<const std::uint8_t> bytes, int blocks, std::vector<CodedBlock>& coded) {
    coded.clear();
    std::size_t total = 0;
    // First, read the sizes. The contents begin where the directory ends.
    const auto* from = bytes.data();
    const bool valid = take_directory(bytes, blocks, [&](int block, std::uint32_t size) {
        coded.push_back({block, {from, size}});
        total += size;
    });
    if (!valid || total != bytes.size()) return false;
    for (auto& [number, of] : coded) {
        of = bytes.first(of.size());
        bytes = bytes.subspan(of.size());
    }
    return true;
}

bool read_block_sizes(std::span<const std::uint8_t> directory, std::size_t content_bytes, int blocks,
                      std::vector<BlockSize>& sizes) {
    sizes.clear();
    std::size_t total = 0;
    const bool valid = take_directory(directory, blocks, [&](int block, std::uint32_t size) {
        sizes.push_back({block, size});
        total += size;
    });
    return valid && directory.empty() && total == content_bytes;
}

}  // namespace framewire::codec

// Assembly of packed frames: head, directory, then the coded blocks in ascending order. The directory precedes the
// blocks, so the sizes of all blocks must be known before the first one is copied.

namespace framewire::codec {

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
        fail(ErrorCode::usage, "{} is a batch of {} frames; each stream must be packed separately", what, shape.frames);
}

void validate_packed_threshold(int threshold) {
    if (threshold < 0 || threshold > PackedHead::max_threshold)
        fail(ErrorCode::usage, "the threshold is {}; allowed: 0 to {}", threshold, PackedHead::max_threshold);
}

std::size_t max_packed_bytes(const Shape& shape) {
    const BlockGrid grid(shape);
    return PackedHead::bytes +
           static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
               max_pixel_bytes(shape.channels) +
           static_cast<std::size_t>(grid.count()) * max_part_bytes;
}

}  // namespace framewire::codec

// Packer for lists of changes. pack_changes() works in three passes:
//
//     1. spread()           positions and differences -> a frame of differences, and the changed sub-blocks per block
//     2. group_changed()    blocks of similar length form groups
//     3. ChangesEncoder     codes the groups in parallel and clears their differences
//
// The frame of differences is 0 between calls, so only the changed sub-blocks need to be cleared.

namespace framewire::codec {
namespace {

using Kind = PackedHead::Kind;

// Differences of a frame, without gaps between rows. They are 0 between frames.
class Differences {
public:
    explicit Differences(const Shape& shape) : image_(shape) {
        std::memset(image_.view().data(), 0, static_cast<std::size_t>(shape.bytes()));
    }
    HostView<std::uint8_t> view() { return image_.view(); }

private:
    HostImage image_;
};

}  // namespace

struct Packer::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    Differences differences;
    std::array<std::uint8_t, std::size_t{3} * block_side>
        column_bits;  // per byte of a block's row: part_bit() of its column of sub-blocks, in the first row
    std::vector<BlockChanges> changed;     // per block
    std::vector<int> coded;                // changed blocks, ascending
    std::vector<std::size_t> order, ends;  // groups of `coded`, as BlockWriter::write_groups() takes them
    BlockWriter writer;

    std::vector<ChangesEncoder> encoders;  // one per worker
    PicturePacker pictures;

    State(const Shape& of, const ThreadPool* pool_)
        : shape(of),
          grid(of),
          pool(pool_),
          differences(of),
          changed(static_cast<std::size_t>(grid.count())),
          encoders(block_workers(pool)),
          pictures(of, pool) {
        for (std::size_t i = 0; i < column_bits.size(); ++i)
            column_bits[i] = static_cast<std::uint8_t>(
                part_bit(static_cast<int>(i) / (part_side * shape.channels) % parts_per_row, 0));
    }

    // Writes the changes `from` to `to` - 1 to the frame of differences, and records the changed sub-blocks of each
    // block.
    void spread(const std::uint32_t* positions, const std::uint8_t* changes, std::ptrdiff_t from, std::ptrdiff_t to) {
        constexpr std::ptrdiff_t run =
            8;  // at most a row of a sub-block, so that a run touches only the sub-blocks at its ends
        auto* const bytes = differences.view().data();
        const auto row_bytes = static_cast<std::uint32_t>(shape.row_bytes());
        const auto block_bytes = static_cast<std::uint32_t>(block_side * shape.channels);
        for (auto i = from; i < to;) {  // each iteration handles a row of a block
            const auto y = positions[i] / row_bytes, column = (positions[i] - y * row_bytes) / block_bytes;
            const auto begin = y * row_bytes + column * block_bytes;
            const auto end = begin + std::min(block_bytes, row_bytes - column * block_bytes);
            const auto first = i;
            unsigned columns = 0;
            while (i < to && positions[i] - begin < end - begin) {
                const auto position = positions[i], in_block = position - begin;
                if (to - i >= run && positions[i + run - 1] - position == run - 1 && position + run <= end) {
                    std::memcpy(bytes + position, changes + i, run);
                    columns |= unsigned{column_bits[in_block]} | column_bits[in_block + run - 1];
                    i += run;
                } else {
                    bytes[position] = changes[i++];
                    columns |= column_bits[in_block];
                }
            }
            auto& block = changed[y / block_side * static_cast<std::uint32_t>(grid.columns()) + column];
            block.parts |= PartSet{columns} << (parts_per_row * static_cast<int>(y % block_side / part_side));
            block.count += static_cast<std::uint32_t>(i - first);
        }
    }

    // Lists the changed blocks and groups them. Blocks with many changes come first, so that threads finish at nearly
    // the same time. Blocks with similar numbers of changes are in the same group, because a group is coded together.
    void group_changed() {
        coded.clear();
        std::size_t left = 0;
        for (int block = 0; block < grid.count(); ++block) {
            const auto count = changed[static_cast<std::size_t>(block)].count;
            if (count) coded.push_back(block);
            left += count;
        }
        const auto count_of = [&](std::size_t i) { return changed[static_cast<std::size_t>(coded[i])].count; };
        order.resize(coded.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count_of(a) > count_of(b); });
        ends.clear();
        const auto workers_count = block_workers(pool);
        constexpr std::size_t least = 2, most = ChangesEncoder::at_once;
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            // With several workers, a group gets about a third of a worker's share of the remaining changes, so that
            // the last groups are small and all workers finish together.
            const auto enough = workers_count == 1 ? left : left / (3 * workers_count);
            std::size_t count = 0;
            while (end < order.size() && end - begin < most && (end - begin < least || count < enough))
                count += count_of(order[end++]);
            left -= count;
            ends.push_back(end);
        }
    }
};

Packer::Packer(const Shape& shape, const ThreadPool* pool) {
    validate_one_frame(shape, "the packer's frame");
    state_ = std::make_unique<State>(shape, pool);
}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;

void Packer::pack_changes(const ChangesView<MemorySpace::host>& changes, int threshold,
                          std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    const auto& shape = state.shape;
    validate_found(changes, shape, "the packer's changes");
    const auto count = changes.summaries[0].count;
    const auto frame_bytes = shape.frame_bytes();
    if (std::int64_t{count} > std::min(changes.capacity, frame_bytes))
        fail(ErrorCode::usage, "there are {} changes, but the list has room for {} and the frame has {} bytes", count,
             changes.capacity, frame_bytes);
    if (count && changes.positions[count - 1] >= frame_bytes)
        fail(ErrorCode::usage, "a change is at byte {}, but the frame has {} bytes", changes.positions[count - 1],
             frame_bytes);
    // Rows of blocks are independent, so threads can write their differences in parallel. Positions ascend, so a binary
    // search finds the changes of each row.
    for_block_groups(state.pool, static_cast<std::size_t>(state.grid.rows()), [&](std::size_t, std::size_t row) {
        const auto first = static_cast<std::int64_t>(row) * block_side * shape.row_bytes();
        const auto last = std::min(frame_bytes, first + block_side * shape.row_bytes());
        const auto* const positions = changes.positions;
        const auto from = std::lower_bound(positions, positions + count, first) - positions;
        const auto to = std::lower_bound(positions + from, positions + count, last) - positions;
        state.spread(positions, changes.differences, from, to);
    });
    state.group_changed();
    state.writer.write_groups<ChangesEncoder::at_once>(
        {Kind::changes, threshold}, state.coded, state.order, state.ends, state.grid.count(), state.pool, out,
        [&](std::size_t worker, std::span<const std::size_t> of, std::vector<std::uint8_t>& to,
            std::span<std::size_t> sizes) {
            std::array<ChangedBlock, ChangesEncoder::at_once> blocks;
            for (std::size_t i = 0; i < of.size(); ++i) {
                const int block = state.coded[of[i]];
                const auto& changed = state.changed[static_cast<std::size_t>(block)];
                blocks[i] = {state.grid.place(block), changed.parts, static_cast<int>(changed.count)};
            }
            state.encoders[worker].encode(state.differences.view(), std::span(blocks).first(of.size()), threshold, to,
                                          sizes);
        });
    // Reset only what this frame changed.
    for (const int block : state.coded) state.changed[static_cast<std::size_t>(block)] = {};
}

void Packer::pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(picture, state.shape, "the packer's picture");
    state.pictures.pack(picture, threshold, out);
}

}  // namespace framewire::codec

// Encoder for lossless keyframes. All blocks of the frame are coded, in parallel.

namespace framewire::codec {

PicturePacker::PicturePacker(const Shape& shape, const ThreadPool* pool)
    : grid_(shape), pool_(pool), blocks_(static_cast<std::size_t>(grid_.count())), encoders_(block_workers(pool)) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
}

void PicturePacker::pack(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out) {
    writer_.write({PackedHead::Kind::picture, threshold}, blocks_, grid_.count(), pool_, out,
                  [&](std::size_t worker, int block, std::vector<std::uint8_t>& bytes) {
                      encoders_[worker].encode(picture, grid_.place(block), bytes);
                  });
}

}  // namespace framewire::codec

// Decoder for packed frames. Blocks are decoded in parallel. A delta frame is applied completely or not at all, unless
// the caller passes `left_out`; each kind has its own way to ensure that:
//
//     changes       added to the reference block by block, and subtracted again if a block is broken
//     prediction,   decoded to `after` and copied when all blocks are good; a prediction reads the complete
//     blocks        previous picture, so it could not be written in place anyway
//     pictures      decoded in place, or to `after` with `left_out`; a broken one leaves the content unspecified
//
// For last_changes(), the differences of every delta frame are kept in tiles of one block each.

namespace framewire::codec {
namespace {

using Kind = PackedHead::Kind;

[[noreturn]] void broken(const char* what) { fail(ErrorCode::source_lost, "broken stream: {}", what); }

}  // namespace

struct Unpacker::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    HostBuffer tiles;                // differences of the last frame, one tile per coded block
    HostImage after;                 // reconstruction of predicted blocks
    std::vector<CodedBlock> coded;   // coded blocks of the last frame; their `bytes` may dangle
    std::vector<PartSet> parts;      // per coded block: sub-blocks with differences
    std::vector<std::size_t> order;  // decoding order, as indices into `coded`
    std::uint32_t last_count = 0;
    int last_threshold = 0;

    // State of the frame that is being read:
    BlockSet* left_out = nullptr;       // blocks that remain unchanged; if null, a broken block makes the frame broken
    BlockSet left_out_before;           // copy of `left_out` from before the frame
    std::vector<std::uint8_t> skipped;  // per coded block: nonzero if it remains unchanged

    struct Worker {
        ChangesDecoder changes;
        PictureDecoder picture;
        PredictionDecoder prediction;
    };
    std::vector<Worker> workers;

    State(const Shape& of, const ThreadPool* pool_)
        : shape(of),
          grid(of),
          pool(pool_),
          tiles(static_cast<std::size_t>(grid.count()) * tile_bytes(of)),
          after(of),
          parts(static_cast<std::size_t>(grid.count())),
          workers(block_workers(pool)) {
        coded.reserve(parts.size());
        order.reserve(parts.size());
    }

    static std::size_t tile_bytes(const Shape& of) {
        return std::size_t{block_side} * block_side * static_cast<std::size_t>(of.channels);
    }
    // Returns the tile of a coded block, 64x64 pixels. Only the sub-blocks in `parts` are valid.
    HostView<std::uint8_t> tile(std::size_t of) {
        return {tiles.data() + of * tile_bytes(shape), {1, block_side, block_side, shape.channels}};
    }

    // Discards the results of the last frame.
    void forget() {
        coded.clear();
        last_count = 0;
    }

    // Reads the head and the directory, and prepares the state of the frame.
    PackedHead open(std::span<const std::uint8_t> bytes, BlockSet* to_leave_out) {
        forget();
        if (to_leave_out && to_leave_out->size() != static_cast<std::size_t>(grid.count()))
            fail(ErrorCode::usage, "the block set has {} entries, but the frame has {} blocks", to_leave_out->size(),
                 grid.count());
        if (bytes.size() < PackedHead::bytes) broken("the header is truncated");
        const PackedHead head{static_cast<Kind>(bytes[0]), bytes[1]};
        if (head.threshold > PackedHead::max_threshold) broken("the threshold is 255");
        if (!read_directory(bytes.subspan(PackedHead::bytes), grid.count(), coded)) {
            coded.clear();
            broken("the block directory is invalid");
        }
        std::fill_n(parts.begin(), coded.size(), PartSet{0});
        left_out = to_leave_out;
        skipped.assign(coded.size(), 0);
        if (!left_out) return head;
        left_out_before = *left_out;
        for (std::size_t i = 0; i < coded.size(); ++i)
            skipped[i] = left_out_before[static_cast<std::size_t>(coded[i].block)];
        return head;
    }

    // Calls body(worker, place, i, bytes) for coded block i unless it is skipped. If body returns false, marks the
    // block as skipped and sets `whole` to false.
    template <class Body>
    void read_block(std::size_t worker, std::size_t i, std::atomic<bool>& whole, Body& body) {
        if (skipped[i] || body(workers[worker], grid.place(coded[i].block), i, coded[i].bytes)) return;
        whole = false;
        skipped[i] = 1;
        if (left_out) (*left_out)[static_cast<std::size_t>(coded[i].block)] = 1;
    }
    // Calls read_block() for each coded block. Returns false if a block is broken and broken blocks are not allowed.
    template <class Body>
    bool for_each_block(Body&& body) {
        std::atomic<bool> whole = true;
        for_blocks(pool, coded.size(), [&](std::size_t worker, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) read_block(worker, i, whole, body);
        });
        return whole || left_out;
    }
    // Variant of for_each_block() for blocks with very different costs. The blocks with the most bytes come first, so
    // that threads finish at nearly the same time.
    template <class Body>
    bool for_each_longest_first(Body&& body) {
        order.resize(coded.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return coded[a].bytes.size() > coded[b].bytes.size(); });
        std::atomic<bool> whole = true;
        for_block_groups(pool, order.size(),
                         [&](std::size_t worker, std::size_t at) { read_block(worker, order[at], whole, body); });
        return whole || left_out;
    }

    // Applies a frame of the kind "changes". Blocks are added as soon as they are decoded. If a block is broken,
    // subtracts them again and returns false.
    bool apply_changes(int threshold, HostView<std::uint8_t> reference) {
        std::atomic<std::uint32_t> count = 0;
        if (!for_each_longest_first(
                [&](Worker& worker, const BlockPlace& place, std::size_t i, std::span<const std::uint8_t> bytes) {
                    const auto found = worker.changes.decode(bytes, place, threshold, tile(i), reference);
                    if (!found.whole) return false;
                    count += found.count;
                    parts[i] = found.parts;
                    add_parts(tile(i), place, found.parts, reference);
                    return true;
                })) {
            for (std::size_t i = 0; i < coded.size(); ++i)
                take_parts_back(tile(i), grid.place(coded[i].block), parts[i], reference);
            return false;
        }
        last_count = count;
        return true;
    }

    // Copies the coded blocks of `after` to the reference and stores the differences in the tiles.
    void take_after(HostView<std::uint8_t> reference) {
        std::atomic<std::uint32_t> count = 0;
        for_each_block([&](Worker&, const BlockPlace& place, std::size_t i, std::span<const std::uint8_t>) {
            const auto from = std::int64_t{place.x} * shape.channels,
                       bytes = std::int64_t{place.width} * shape.channels;
            std::uint32_t changed = 0;
            for (int y = 0; y < place.height; ++y) {
                const auto* const now = after.view().row(0, place.y + y) + from;
                auto *const held = reference.row(0, place.y + y) + from, *const difference = tile(i).row(0, y);
                for (std::int64_t byte = 0; byte < bytes; ++byte) {
                    difference[byte] = static_cast<std::uint8_t>(now[byte] - held[byte]);
                    changed += difference[byte] != 0;
                    held[byte] = now[byte];
                }
            }
            // All sub-blocks may differ. last_changes() skips bytes without a difference.
            parts[i] = ~PartSet{0};
            count += changed;
            return true;
        });
        last_count = count;
    }

    // Applies a frame of the kind "prediction". All blocks are first decoded to `after`, because they are predicted
    // from the complete previous picture.
    bool apply_prediction(int threshold, HostView<std::uint8_t> reference) {
        const HostView<const std::uint8_t> before = reference;
        const AvoidedBlocks avoided(shape, left_out_before);
        if (!for_each_block(
                [&](Worker& worker, const BlockPlace& place, std::size_t, std::span<const std::uint8_t> bytes) {
                    return worker.prediction.decode(bytes, place, threshold, before, after.view(),
                                                    left_out ? &avoided : nullptr);
                }))
            return false;
        take_after(reference);
        return true;
    }

    // Applies a frame of the kind "blocks". Blocks are first decoded to `after`, because a broken block may be partly
    // written before the error is found.
    bool apply_blocks(HostView<std::uint8_t> reference) {
        if (!for_each_block(
                [&](Worker& worker, const BlockPlace& place, std::size_t, std::span<const std::uint8_t> bytes) {
                    return worker.picture.decode(bytes, place, after.view());
                }))
            return false;
        take_after(reference);
        return true;
    }

    // Applies a delta frame; see Unpacker::apply_changes().
    void change(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet* to_leave_out) {
        validate(reference, shape, "the unpacker's reference");
        const auto head = open(bytes, to_leave_out);
        last_threshold = head.threshold;
        if (apply(head, reference)) return;
        forget();
        // The two messages distinguish a broken block from a frame of the wrong kind.
        const bool of_changes =
            head.kind == Kind::changes || head.kind == Kind::prediction || head.kind == Kind::blocks;
        broken(of_changes ? "the changes of a block are invalid" : "a delta frame was expected");
    }

    bool apply(const PackedHead& head, HostView<std::uint8_t> reference) {
        switch (head.kind) {
            case Kind::changes: return apply_changes(head.threshold, reference);
            case Kind::prediction: return apply_prediction(head.threshold, reference);
            case Kind::blocks: return apply_blocks(reference);
            default: return false;
        }
    }

    // Applies a keyframe; see Unpacker::apply_picture().
    void replace(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet* to_leave_out) {
        validate(reference, shape, "the unpacker's reference");
        const auto head = open(bytes, to_leave_out);
        last_threshold = head.threshold;
        const bool all = coded.size() == static_cast<std::size_t>(grid.count());
        const bool first = head.kind == Kind::first_picture;
        // With `left_out`, broken blocks must remain unchanged, but they may be partly written before the error is
        // found.
        const auto picture = left_out ? after.view() : reference;
        const bool whole =
            all && (first || head.kind == Kind::picture) &&
            for_each_block([&](Worker& worker, const BlockPlace& place, std::size_t, std::span<const std::uint8_t> of) {
                return first ? worker.prediction.decode_fresh(of, place, head.threshold, picture)
                             : worker.picture.decode(of, place, picture);
            });
        if (whole && left_out)
            for_each_block([&](Worker&, const BlockPlace& place, std::size_t, std::span<const std::uint8_t>) {
                const auto from = std::int64_t{place.x} * shape.channels;
                for (int y = place.y; y < place.y + place.height; ++y)
                    std::memcpy(reference.row(0, y) + from, picture.row(0, y) + from,
                                static_cast<std::size_t>(place.width * shape.channels));
                return true;
            });
        coded.clear();
        if (!all) broken("a block of the keyframe is missing");
        if (!whole) broken("a block of the keyframe is invalid");
    }
};

Unpacker::Unpacker(const Shape& shape, const ThreadPool* pool) {
    validate_one_frame(shape, "the unpacker's frame");
    state_ = std::make_unique<State>(shape, pool);
}
Unpacker::~Unpacker() = default;
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;

int Unpacker::last_threshold() const { return state_->last_threshold; }
std::uint32_t Unpacker::last_count() const { return state_->last_count; }

void Unpacker::last_changes(const ChangesView<MemorySpace::host>& changes) const {
    auto& state = *state_;
    validate(changes, state.shape, "the unpacker's changes");
    const int channels = state.shape.channels;
    const auto row_bytes = state.shape.row_bytes();
    std::uint32_t count = 0;
    const auto add_row = [&](std::size_t i, const BlockPlace& place, int y) {
        const auto* const row = state.tile(i).row(0, y - place.y);
        const auto begin = static_cast<std::uint32_t>(y * row_bytes + std::int64_t{place.x} * channels);
        for (int column = 0; column < place.part_columns(); ++column) {
            if (!(state.parts[i] & part_bit(column, (y - place.y) / part_side))) continue;
            const int end = std::min((column + 1) * part_side, place.width) * channels;
            for (int byte = column * part_side * channels; byte < end; ++byte) {
                if (!row[byte]) continue;
                changes.positions[count] = begin + static_cast<std::uint32_t>(byte);
                changes.differences[count++] = row[byte];
            }
        }
    };
    // Write in raster order: for each row of blocks, go through the rows of pixels of its coded blocks.
    for (std::size_t begin = 0, end; begin < state.coded.size(); begin = end) {
        const auto first = state.grid.place(state.coded[begin].block);
        for (end = begin; end < state.coded.size() && state.grid.place(state.coded[end].block).y == first.y;) ++end;
        for (int y = first.y; y < first.y + first.height; ++y)
            for (auto i = begin; i < end; ++i) add_row(i, state.grid.place(state.coded[i].block), y);
    }
    changes.summaries[0] = {.count = count};
}

void Unpacker::apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    state_->change(bytes, reference, nullptr);
}
void Unpacker::apply_changes(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference,
                             BlockSet& left_out) {
    state_->change(bytes, reference, &left_out);
}

void Unpacker::apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference) {
    state_->replace(bytes, reference, nullptr);
}
void Unpacker::apply_picture(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference,
                             BlockSet& left_out) {
    state_->replace(bytes, reference, &left_out);
}

}  // namespace framewire::codec
