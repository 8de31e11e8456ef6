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

struct Packer::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    Differences differences;
    std::vector<int> coded;              // the blocks to code, ascending
    std::vector<std::uint8_t> is_coded;  // of all blocks
    BlockWriter writer;

    struct Share {
        ChangesEncoder changes;
        PictureEncoder picture;
        std::vector<BlockPlace> places;
    };
    std::array<Share, static_cast<std::size_t>(block_shares)> shares{};

    State(const Shape& of, const ThreadPool* pool_)
        : shape(of), grid(of), pool(pool_), differences(of), is_coded(static_cast<std::size_t>(grid.count())) {}

    /// Writes the changes from number `from` to before `to` as differences and marks their blocks.
    void spread(const std::uint32_t* positions, const std::uint8_t* changes, std::ptrdiff_t from, std::ptrdiff_t to) {
        if (from == to) return;
        auto* const bytes = differences.view().data();
        const auto row_bytes = shape.row_bytes(), block_bytes = std::int64_t{block_side} * shape.channels;
        // Positions ascend: the row and the block move on from change to change.
        auto y = positions[from] / row_bytes;
        auto row_end = (y + 1) * row_bytes, block_end = row_end - row_bytes;
        for (auto i = from; i < to; ++i) {
            const std::int64_t position = positions[i];
            if (position >= block_end) {
                while (position >= row_end) {
                    row_end += row_bytes;
                    ++y;
                }
                const auto column = (position - (row_end - row_bytes)) / block_bytes;
                block_end = std::min(row_end, row_end - row_bytes + (column + 1) * block_bytes);
                is_coded[static_cast<std::size_t>(y / block_side * grid.columns() + column)] = 1;
            }
            bytes[position] = changes[i];
        }
    }

    /// Codes the blocks of `coded`, each by encode(share, place, bytes), and appends all.
    template <class Encode>
    void pack(const PackedHead& head, std::vector<std::uint8_t>& out, Encode&& encode) {
        writer.write(head, coded, grid.count(), pool, out,
                     [&](std::size_t share, int block, std::vector<std::uint8_t>& bytes) {
                         encode(shares[share], grid.place(block), bytes);
                     });
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
    const auto differences = state.differences.view();
    for_block_shares(state.pool, static_cast<std::size_t>(state.grid.rows()),
                     [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                         const auto first = begin * block_side * shape.row_bytes();
                         const auto last = std::min(frame_bytes, end * block_side * shape.row_bytes());
                         const auto* const positions = changes.positions;
                         const auto from = std::lower_bound(positions, positions + count, first) - positions;
                         const auto to = std::lower_bound(positions + from, positions + count, last) - positions;
                         state.spread(positions, changes.differences, from, to);
                     });
    state.coded.clear();
    for (int block = 0; block < state.grid.count(); ++block)
        if (std::exchange(state.is_coded[static_cast<std::size_t>(block)], std::uint8_t{0}))
            state.coded.push_back(block);
    state.writer.write_shares({Kind::changes, threshold}, state.coded, state.grid.count(), state.pool, out,
                              [&](std::size_t share, std::span<const int> blocks, std::vector<std::uint8_t>& to,
                                  std::span<std::size_t> sizes) {
                                  auto& [encoder, picture, places] = state.shares[share];
                                  places.clear();
                                  for (const int block : blocks) places.push_back(state.grid.place(block));
                                  encoder.encode(differences, places, threshold, to, sizes);
                              });
}

void Packer::pack_picture(HostView<const std::uint8_t> picture, int threshold, std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(picture, state.shape, "the packer's picture");
    state.coded.resize(static_cast<std::size_t>(state.grid.count()));
    std::iota(state.coded.begin(), state.coded.end(), 0);
    state.pack({Kind::picture, threshold}, out,
               [&](State::Share& share, const BlockPlace& place, std::vector<std::uint8_t>& to) {
                   share.picture.encode(picture, place, to);
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

    struct Share {
        ChangesDecoder changes;
        PictureDecoder picture;
        PredictionDecoder prediction;
    };
    std::array<Share, static_cast<std::size_t>(block_shares)> shares{};

    State(const Shape& of, const ThreadPool* pool_) : shape(of), grid(of), pool(pool_), differences(of), after(of) {
        coded.reserve(static_cast<std::size_t>(grid.count()));
        parts.resize(static_cast<std::size_t>(grid.count()));
    }

    void forget() {
        for (std::size_t i = 0; i < coded.size(); ++i)
            clear_parts(differences.view(), grid.place(coded[i].block), parts[i]);
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
        for_block_shares(pool, coded.size(), [&](std::int64_t share, std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                const auto place = grid.place(coded[i].block);
                if (skipped[i] || body(shares[static_cast<std::size_t>(share)], place, coded[i].bytes, parts[i]))
                    continue;
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
        for_each_block([&](Share&, const BlockPlace& place, std::span<const std::uint8_t>, PartSet& all) {
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
                [&](Share& share, const BlockPlace& place, std::span<const std::uint8_t> bytes, PartSet& of) {
                    const auto found = share.changes.decode(bytes, place, threshold, differences.view());
                    if (found.whole) count += found.count;
                    of = found.parts;
                    return found.whole;
                }))
            return false;
        for_each_block([&](Share&, const BlockPlace& place, std::span<const std::uint8_t>, const PartSet& of) {
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
        if (!for_each_block([&](Share& share, const BlockPlace& place, std::span<const std::uint8_t> bytes, PartSet&) {
                return share.prediction.decode(bytes, place, threshold, before, after.view(),
                                               left_out ? &avoided : nullptr);
            }))
            return false;
        take_after(reference);
        return true;
    }

    /// Blocks as they are: `after` takes them first, for a broken one may have been written in part when that shows.
    bool apply_blocks(HostView<std::uint8_t> reference) {
        if (!for_each_block([&](Share& share, const BlockPlace& place, std::span<const std::uint8_t> bytes, PartSet&) {
                return share.picture.decode(bytes, place, after.view());
            }))
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
            for_each_block([&](Share& share, const BlockPlace& place, std::span<const std::uint8_t> of, PartSet&) {
                return first ? share.prediction.decode_fresh(of, place, head.threshold, picture)
                             : share.picture.decode(of, place, picture);
            });
        if (whole && left_out)
            for_each_block([&](Share&, const BlockPlace& place, std::span<const std::uint8_t>, PartSet&) {
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
