// Decoder for packed frames. Blocks are decoded in parallel. A delta frame is applied completely or not at all, unless
// the caller passes `left_out`; each kind has its own way to ensure that:
//
//     changes       added to the reference block by block, and subtracted again if a block is broken
//     prediction,   decoded to `after` and copied when all blocks are good; a prediction reads the complete
//     blocks        previous picture, so it could not be written in place anyway
//     pictures      decoded in place, or to `after` with `left_out`; a broken one leaves the content unspecified
//
// For last_changes(), the differences of every delta frame are kept in tiles of one block each.

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/avoided_blocks.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/part_set.hpp"
#include "framewire/delta/blocks/reading/changes_decoder.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/pictures/picture_coder.hpp"
#include "framewire/delta/prediction/prediction_decoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace framewire::delta {
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
    std::vector<CodedBlock> coded;   // the coded blocks of the last frame; their bytes may be gone
    std::vector<PartSet> parts;      // per coded block: its sub-blocks with differences
    std::vector<std::size_t> order;  // order of decoding
    std::uint32_t last_count = 0;
    int last_threshold = 0;

    // State of the frame that is being read:
    BlockSet* left_out = nullptr;       // blocks that stay as they are; null: a broken block breaks the frame
    BlockSet left_out_before;           // its content before the frame
    std::vector<std::uint8_t> skipped;  // per coded block: it stays as it is

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

    // Discards the result of the last frame.
    void forget() {
        coded.clear();
        last_count = 0;
    }

    // Reads head and directory.
    PackedHead open(std::span<const std::uint8_t> bytes, BlockSet* to_leave_out) {
        forget();
        if (to_leave_out && to_leave_out->size() != static_cast<std::size_t>(grid.count()))
            fail(ErrorCode::usage, "{} blocks to leave out or not, of a frame of {}", to_leave_out->size(),
                 grid.count());
        if (bytes.size() < PackedHead::bytes) broken("it ends within its head");
        const PackedHead head{static_cast<Kind>(bytes[0]), bytes[1]};
        if (head.threshold > PackedHead::max_threshold) broken("a threshold of 255");
        if (!read_directory(bytes.subspan(PackedHead::bytes), grid.count(), coded)) {
            coded.clear();
            broken("its blocks do not fit together");
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

    // Calls body(worker, place, number, bytes) for a coded block unless it is skipped. If body returns false, the block
    // is skipped from then on and `whole` becomes false.
    template <class Body>
    void read_block(std::size_t worker, std::size_t i, std::atomic<bool>& whole, Body& body) {
        if (skipped[i] || body(workers[worker], grid.place(coded[i].block), i, coded[i].bytes)) return;
        whole = false;
        skipped[i] = 1;
        if (left_out) (*left_out)[static_cast<std::size_t>(coded[i].block)] = 1;
    }
    // Calls read_block() for each coded block. Returns false if one is broken and broken blocks are not allowed.
    template <class Body>
    bool for_each_block(Body&& body) {
        std::atomic<bool> whole = true;
        for_blocks(pool, coded.size(), [&](std::size_t worker, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) read_block(worker, i, whole, body);
        });
        return whole || left_out;
    }
    // Variant of for_each_block() for blocks that differ much in cost. Those with the most bytes come first, so that
    // threads finish at nearly the same time.
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

    // Applies the kind "changes". Returns false, with nothing applied, if a block is broken: blocks are added as soon
    // as they are decoded, and subtracted again in that case.
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

    // Applies the kind "prediction". All blocks are decoded to `after` first, because they are predicted from the
    // complete previous picture.
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

    // Applies the kind "blocks". Blocks are decoded to `after` first, because a broken one may already be partly
    // written when the error is found.
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
        broken(of_changes ? "a block's changes make no sense" : "no changes where some should be");
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
        // With `left_out`, broken blocks must stay as they are, but may already be partly written when the error is
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
        if (!all) broken("a picture without all its blocks");
        if (!whole) broken("a block of a picture makes no sense");
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
    // Raster order: for each row of blocks, each row of pixels of its coded blocks.
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

}  // namespace framewire::delta
