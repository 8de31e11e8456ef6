#include "framewire/delta/packing/packing.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/block_bytes.hpp"
#include "framewire/delta/blocks/changes_coder.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/reading/changes_decoder.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/pictures/picture_coder.hpp"
#include "framewire/delta/prediction/prediction_decoder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

namespace framewire::delta {
namespace {

using Kind = PackedHead::Kind;

[[noreturn]] void broken(const char* what) { fail(ErrorCode::source_lost, "broken stream: {}", what); }

/// Differences of a frame, rows without gaps, which are zero wherever a block has none.
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

std::size_t max_packed_bytes(const Shape& shape) {
    const BlockGrid grid(shape);
    return PackedHead::bytes +
           static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
               max_pixel_bytes(shape.channels) +
           static_cast<std::size_t>(grid.count()) * max_part_bytes;
}

/// What of a block changes.
struct BlockChanges {
    PartSet parts = 0;
    std::uint32_t count = 0;
};

struct Packer::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    Differences differences;
    std::array<std::uint8_t, std::size_t{3} * block_side>
        column_bits;                       // of a block's bytes: part_bit() of the first row
    std::vector<BlockChanges> changed;     // of all blocks
    std::vector<int> coded;                // the blocks to code, ascending
    std::vector<std::size_t> order, ends;  // of those, see BlockWriter
    BlockWriter writer;

    struct Worker {
        ChangesEncoder changes;
        PictureEncoder picture;
    };
    std::array<Worker, most_block_workers> workers{};

    State(const Shape& of, const ThreadPool* pool_)
        : shape(of), grid(of), pool(pool_), differences(of), changed(static_cast<std::size_t>(grid.count())) {
        for (std::size_t i = 0; i < column_bits.size(); ++i)
            column_bits[i] = static_cast<std::uint8_t>(
                part_bit(static_cast<int>(i) / (part_side * shape.channels) % parts_per_row, 0));
    }

    /// Writes the changes from number `from` to before `to` as differences, and notes what of which block they are.
    void spread(const std::uint32_t* positions, const std::uint8_t* changes, std::ptrdiff_t from, std::ptrdiff_t to) {
        constexpr std::ptrdiff_t run = 8;  // no longer than a part's row: then its ends say which parts it is in
        auto* const bytes = differences.view().data();
        const auto row_bytes = static_cast<std::uint32_t>(shape.row_bytes());
        const auto block_bytes = static_cast<std::uint32_t>(block_side * shape.channels);
        for (auto i = from; i < to;) {  // rows of blocks, as far as they change
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

    /// Lists the blocks that change, and puts them into groups: those with the most changes first, so that threads end
    /// at nearly the same time, and blocks of nearly the same length together, as they are coded side by side.
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
        fail(ErrorCode::usage, "{} changes in room for {}, of a frame of {} bytes", count, changes.capacity,
             frame_bytes);
    if (count && changes.positions[count - 1] >= frame_bytes)
        fail(ErrorCode::usage, "a change at byte {} of a frame of {}", changes.positions[count - 1], frame_bytes);
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
            state.workers[worker].changes.encode(state.differences.view(), std::span(blocks).first(of.size()),
                                                 threshold, to, sizes);
        });
    for (const int block : state.coded) state.changed[static_cast<std::size_t>(block)] = {};
}

void Packer::pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(picture, state.shape, "the packer's picture");
    state.coded.resize(static_cast<std::size_t>(state.grid.count()));
    std::iota(state.coded.begin(), state.coded.end(), 0);
    state.writer.write({Kind::picture, threshold}, state.coded, state.grid.count(), state.pool, out,
                       [&](std::size_t worker, int block, std::vector<std::uint8_t>& to) {
                           state.workers[worker].picture.encode(picture, state.grid.place(block), to);
                       });
}

struct Unpacker::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    Differences differences;        // the last changes
    HostImage after;                // of the blocks that a prediction makes
    std::vector<CodedBlock> coded;  // where the last changes are; the bytes are gone
    std::vector<PartSet> parts;     // of each of them, those with differences
    std::uint32_t last_count = 0;
    int last_threshold = 0;

    // Of the frame being read:
    BlockSet* left_out = nullptr;       // blocks that stay as they are; none: broken ones break the frame
    BlockSet left_out_before;           // the same, before the frame
    std::vector<std::uint8_t> skipped;  // of the coded blocks, those of them

    struct Worker {
        ChangesDecoder changes;
        PictureDecoder picture;
        PredictionDecoder prediction;
    };
    std::array<Worker, most_block_workers> workers{};

    State(const Shape& of, const ThreadPool* pool_) : shape(of), grid(of), pool(pool_), differences(of), after(of) {
        coded.reserve(static_cast<std::size_t>(grid.count()));
        parts.resize(static_cast<std::size_t>(grid.count()));
    }

    void forget() {
        for_blocks(pool, coded.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) clear_parts(differences.view(), grid.place(coded[i].block), parts[i]);
        });
        coded.clear();
        last_count = 0;
    }

    /// Reads head and directory.
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

    /// Calls body(share, place, bytes, parts) for each block that is coded and not left out. Where one says false it is
    /// left out from then on; where none may be, this is false.
    template <class Body>
    bool for_each_block(Body&& body) {
        std::atomic<bool> whole = true;
        for_blocks(pool, coded.size(), [&](std::size_t worker, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
                const auto place = grid.place(coded[i].block);
                if (skipped[i] || body(workers[worker], place, coded[i].bytes, parts[i])) continue;
                whole = false;
                skipped[i] = 1;
                if (!left_out) continue;
                (*left_out)[static_cast<std::size_t>(coded[i].block)] = 1;
                clear_parts(differences.view(), place, std::exchange(parts[i], PartSet{0}));
            }
        });
        return whole || left_out;
    }

    /// Calls body(bytes, differences, after, count) for the rows of each block that is coded.
    template <class Body>
    void for_each_row(HostView<std::uint8_t> reference, Body&& body) {
        for_each_block([&](Worker&, const BlockPlace& place, std::span<const std::uint8_t>, PartSet& all) {
            all = ~PartSet{0};
            const auto from = std::int64_t{place.x} * shape.channels,
                       count = std::int64_t{place.width} * shape.channels;
            for (int y = place.y; y < place.y + place.height; ++y)
                body(reference.row(0, y) + from, differences.view().row(0, y) + from, after.view().row(0, y) + from,
                     count);
            return true;
        });
    }

    /// False, with nothing applied, when they are broken.
    bool apply_changes(int threshold, HostView<std::uint8_t> reference) {
        std::atomic<std::uint32_t> count = 0;
        if (!for_each_block(
                [&](Worker& worker, const BlockPlace& place, std::span<const std::uint8_t> bytes, PartSet& of) {
                    const auto found = worker.changes.decode(bytes, place, threshold, differences.view());
                    if (found.whole) count += found.count;
                    of = found.parts;
                    return found.whole;
                }))
            return false;
        for_each_block([&](Worker&, const BlockPlace& place, std::span<const std::uint8_t>, const PartSet& of) {
            add_parts(differences.view(), place, of, reference);
            return true;
        });
        last_count = count;
        return true;
    }

    /// What `after` has of the coded blocks becomes the reference's.
    void take_after(HostView<std::uint8_t> reference) {
        std::atomic<std::uint32_t> count = 0;
        for_each_row(reference,
                     [&](std::uint8_t* held, std::uint8_t* difference, const std::uint8_t* now, std::int64_t bytes) {
                         std::uint32_t changed = 0;
                         for (std::int64_t i = 0; i < bytes; ++i) {
                             difference[i] = static_cast<std::uint8_t>(now[i] - held[i]);
                             changed += difference[i] != 0;
                             held[i] = now[i];
                         }
                         count += changed;
                     });
        last_count = count;
    }

    bool apply_prediction(int threshold, HostView<std::uint8_t> reference) {
        const HostView<const std::uint8_t> before = reference;
        const AvoidedBlocks avoided(shape, left_out_before);
        if (!for_each_block(
                [&](Worker& worker, const BlockPlace& place, std::span<const std::uint8_t> bytes, PartSet&) {
                    return worker.prediction.decode(bytes, place, threshold, before, after.view(),
                                                    left_out ? &avoided : nullptr);
                }))
            return false;
        take_after(reference);
        return true;
    }

    /// Blocks as they are: `after` takes them first, for a broken one may have been written in part when that shows.
    bool apply_blocks(HostView<std::uint8_t> reference) {
        if (!for_each_block([&](Worker& worker, const BlockPlace& place, std::span<const std::uint8_t> bytes,
                                PartSet&) { return worker.picture.decode(bytes, place, after.view()); }))
            return false;
        take_after(reference);
        return true;
    }

    // Apply whole frames; see Unpacker.
    void change(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet* to_leave_out) {
        validate(reference, shape, "the unpacker's reference");
        const auto head = open(bytes, to_leave_out);
        last_threshold = head.threshold;
        if (apply(head, reference)) return;
        forget();
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

    void replace(std::span<const std::uint8_t> bytes, HostView<std::uint8_t> reference, BlockSet* to_leave_out) {
        validate(reference, shape, "the unpacker's reference");
        const auto head = open(bytes, to_leave_out);
        last_threshold = head.threshold;
        const bool all = coded.size() == static_cast<std::size_t>(grid.count());
        const bool first = head.kind == Kind::first_picture;
        // Broken blocks may have been written in part when that shows.
        const auto picture = left_out ? after.view() : reference;
        const bool whole =
            all && (first || head.kind == Kind::picture) &&
            for_each_block([&](Worker& worker, const BlockPlace& place, std::span<const std::uint8_t> of, PartSet&) {
                return first ? worker.prediction.decode_fresh(of, place, head.threshold, picture)
                             : worker.picture.decode(of, place, picture);
            });
        if (whole && left_out)
            for_each_block([&](Worker&, const BlockPlace& place, std::span<const std::uint8_t>, PartSet&) {
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
    const auto differences = state.differences.view();
    const auto row_bytes = state.shape.row_bytes();
    std::uint32_t count = 0;
    // Rows of blocks one after the other, and in each of them the rows of its coded blocks.
    for (std::size_t begin = 0, end; begin < state.coded.size(); begin = end) {
        const auto first = state.grid.place(state.coded[begin].block);
        for (end = begin; end < state.coded.size() && state.grid.place(state.coded[end].block).y == first.y;) ++end;
        for (int y = first.y; y < first.y + first.height; ++y)
            for (auto i = begin; i < end; ++i) {
                const auto place = state.grid.place(state.coded[i].block);
                const auto* row = differences.row(0, y);
                const auto from = std::int64_t{place.x} * state.shape.channels;
                for (auto x = from; x < from + std::int64_t{place.width} * state.shape.channels; ++x) {
                    if (!row[x]) continue;
                    changes.positions[count] = static_cast<std::uint32_t>(y * row_bytes + x);
                    changes.differences[count++] = row[x];
                }
            }
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
