// Packer for lists of changes. pack_changes() works in three passes:
//
//     1. spread()           positions and differences -> a frame of differences, and the changed sub-blocks per block
//     2. group_changed()    blocks of similar length form groups
//     3. ChangesEncoder     codes the groups in parallel and clears their differences
//
// The frame of differences is 0 between calls, so only what changed needs to be cleared.

#include "framewire/delta/packing/packing.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/blocks/changes_coder.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/picture_packer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace framewire::delta {
namespace {

using Kind = PackedHead::Kind;

// Differences of a frame, in rows without gaps. They are 0 between frames.
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
        column_bits;                       // per byte of a block's row: part_bit() of its column, in the first row
    std::vector<BlockChanges> changed;     // per block
    std::vector<int> coded;                // changed blocks, ascending
    std::vector<std::size_t> order, ends;  // grouping of `coded`, see BlockWriter::write_groups()
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

    // Writes the changes `from` to `to` - 1 as differences and records the changed sub-blocks of each block.
    void spread(const std::uint32_t* positions, const std::uint8_t* changes, std::ptrdiff_t from, std::ptrdiff_t to) {
        constexpr std::ptrdiff_t run =
            8;  // at most a row of a sub-block, so that both ends show which sub-blocks it touches
        auto* const bytes = differences.view().data();
        const auto row_bytes = static_cast<std::uint32_t>(shape.row_bytes());
        const auto block_bytes = static_cast<std::uint32_t>(block_side * shape.channels);
        for (auto i = from; i < to;) {  // one row of a block per iteration
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

    // Lists the changed blocks and groups them: blocks with many changes first, so that threads finish at nearly the
    // same time, and blocks of similar length together, because they are coded together.
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
        fail(ErrorCode::usage, "{} changes in room for {}, of a frame of {} bytes", count, changes.capacity,
             frame_bytes);
    if (count && changes.positions[count - 1] >= frame_bytes)
        fail(ErrorCode::usage, "a change at byte {} of a frame of {}", changes.positions[count - 1], frame_bytes);
    // Rows of blocks are independent, so that threads can write their differences in parallel. Positions ascend, so a
    // binary search finds the changes of each row.
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

}  // namespace framewire::delta
