#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/changes_coder.hpp"
#include "framewire/codec/encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

// Modes `exact` and `lossless` on the CPU in one pass. A worker takes a strip, compares it with R, and immediately
// codes its changed blocks. It does not write the list of changes that Encoder passes to Packer.
//
//     compare_strip     camera, R       -> R, differences of the strip, changed sub-blocks
//     count_changes     differences     -> changed bytes per cell, if the caller refines R
//     ChangesEncoder    differences     -> coded blocks; clears the differences
//     BlockWriter       coded blocks    -> packed frame, in the order of the blocks

namespace framewire::codec {
namespace {

// Partition of a frame into strips, so many that every worker gets several.
class Strips {
public:
    // Chooses the width of the strips for a number of workers.
    Strips(const BlockGrid& grid, std::size_t workers) : grid_(grid) {
        constexpr int each = 6;  // minimum number of strips per worker; workers then finish at nearly the same time
        const int wanted = (each * static_cast<int>(workers) + grid.rows() - 1) / grid.rows();
        const int needed = (grid.columns() + Strip::most_blocks - 1) / Strip::most_blocks;
        const int per_row = std::min(std::max(wanted, needed), grid.columns());
        blocks_ = (grid.columns() + per_row - 1) / per_row;
        per_row_ = (grid.columns() + blocks_ - 1) / blocks_;
    }

    std::size_t count() const { return static_cast<std::size_t>(per_row_ * grid_.rows()); }
    // Returns the width of a strip in blocks. The last strip of a row may be narrower.
    int width() const { return blocks_; }

    // Returns a strip. Strips are numbered row by row, from 0 to count() - 1.
    Strip operator[](std::size_t index) const {
        const int row = static_cast<int>(index) / per_row_, column = static_cast<int>(index) % per_row_ * blocks_;
        const int blocks = std::min(blocks_, grid_.columns() - column);
        const int first = row * grid_.columns() + column;
        auto place = grid_.place(first);
        const auto last = grid_.place(first + blocks - 1);
        place.width = last.x + last.width - place.x;
        return {first, blocks, place};
    }

private:
    BlockGrid grid_;
    int blocks_, per_row_;
};

}  // namespace

struct ExactPacker::State {
    Shape shape;
    BlockGrid grid;
    CellGrid cells;
    const ThreadPool* pool;
    Strips strips;
    BlockWriter writer;
    PicturePacker pictures;

    struct Worker {
        HostImage differences;  // differences of the current strip; 0 between calls
        ChangesEncoder encoder;
        Summary found;
    };
    std::vector<Worker> workers;

    State(const Shape& of, const ThreadPool* pool_)
        : shape(of),
          grid(of),
          cells(of),
          pool(pool_),
          strips(grid, block_workers(pool)),
          pictures(of, pool),
          workers(block_workers(pool)) {
        for (auto& worker : workers) {
            worker.differences = HostImage({1, block_side, strips.width() * block_side, shape.channels});
            const auto view = worker.differences.view();
            std::memset(view.data(), 0, static_cast<std::size_t>(view.shape().bytes()));
        }
    }

    void check(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference, int threshold) const {
        validate_packed_threshold(threshold);
        validate(camera, shape, "the exact packer's frame");
        validate(reference, shape, "the exact packer's reference");
    }

    // Returns the sum of what all workers found.
    Summary found() const {
        Summary sum;
        for (const auto& worker : workers) add(sum, worker.found);
        return sum;
    }

    // Changed blocks of a strip. Positions are relative to the strip, as those of the differences.
    struct ChangedBlocks {
        std::array<ChangedBlock, Strip::most_blocks> blocks;
        std::size_t count = 0;

        std::span<ChangedBlock> all() { return std::span(blocks).first(count); }
    };

    // Compares one strip with R. The differences remain in the worker's memory.
    ChangedBlocks compare(Worker& worker, const Strip& strip, HostView<const std::uint8_t> camera,
                          HostView<std::uint8_t> reference, int threshold) const {
        std::array<BlockChanges, Strip::most_blocks> changes{};
        add(worker.found, compare_strip(camera, reference, strip, threshold, worker.differences.view(),
                                        std::span(changes).first(static_cast<std::size_t>(strip.blocks))));
        ChangedBlocks changed;
        for (int block = 0; block < strip.blocks; ++block) {
            const auto& [parts, count] = changes[static_cast<std::size_t>(block)];
            if (count == 0) continue;
            const auto place = grid.place(strip.first_block + block);
            changed.blocks[changed.count++] = {
                {block * block_side, 0, place.width, place.height}, parts, static_cast<int>(count)};
        }
        return changed;
    }

    // Returns the number in the frame of a block whose position is relative to the strip.
    static int number_of(const ChangedBlock& block, const Strip& strip) {
        return strip.first_block + block.place.x / block_side;
    }

    // Adds the changed bytes of a block to the counts of its cells, sub-block by sub-block. A changed byte has a
    // nonzero difference.
    void count_changes(HostView<const std::uint8_t> differences, const ChangedBlock& block, const Strip& strip,
                       std::span<std::uint16_t> changed_per_cell) const {
        for_each_of(block.parts, block.place, [&](int left, int top, int width, int height) {
            const auto begin = std::int64_t{block.place.x + left} * shape.channels;
            const auto bytes = std::int64_t{width} * shape.channels;
            std::int64_t same = 0;
            for (int y = top; y < top + height; ++y) {
                const auto* const row = differences.row(0, y) + begin;
                same += std::count(row, row + bytes, std::uint8_t{0});
            }
            const int x = strip.place.x * shape.channels + static_cast<int>(begin);
            auto& changed =
                changed_per_cell[static_cast<std::size_t>(cells.cell_of(strip.place.y + top, x, shape.channels))];
            changed = static_cast<std::uint16_t>(changed + bytes * height - same);
        });
    }

    // Compares one strip with R and appends its changed blocks to `bytes`. Calls took(block, size) for each of them, in
    // the same order. Counts the changes per cell unless `changed_per_cell` is empty.
    template <class Took>
    void pack(Worker& worker, const Strip& strip, HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference,
              int threshold, std::span<std::uint16_t> changed_per_cell, std::vector<std::uint8_t>& bytes, Took&& took) {
        const auto differences = worker.differences.view();
        auto changed = compare(worker, strip, camera, reference, threshold);
        if (!changed_per_cell.empty())
            for (const auto& block : changed.all()) count_changes(differences, block, strip, changed_per_cell);
        // Blocks of similar length are coded together, which keeps the interleaved chains busy.
        std::ranges::sort(changed.all(),
                          [](const ChangedBlock& a, const ChangedBlock& b) { return a.samples > b.samples; });
        constexpr auto at_once = ChangesEncoder::at_once;
        std::array<std::size_t, at_once> sizes;
        for (auto left = changed.all(); !left.empty();) {
            const auto blocks = left.first(std::min(at_once, left.size()));
            left = left.subspan(blocks.size());
            worker.encoder.encode(differences, blocks, threshold, bytes, std::span(sizes).first(blocks.size()));
            for (std::size_t i = 0; i < blocks.size(); ++i) took(number_of(blocks[i], strip), sizes[i]);
        }
    }
};

ExactPacker::ExactPacker(const Shape& shape, const ThreadPool* pool) {
    validate_one_frame(shape, "the exact packer's frame");
    state_ = std::make_unique<State>(shape, pool);
}
ExactPacker::~ExactPacker() = default;
ExactPacker::ExactPacker(ExactPacker&&) noexcept = default;
ExactPacker& ExactPacker::operator=(ExactPacker&&) noexcept = default;

Summary ExactPacker::pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                                std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    state.check(camera, reference, threshold);
    state.pictures.pack(camera, threshold, out);
    copy(camera, reference);
    return {};
}

Summary ExactPacker::pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                               std::vector<std::uint8_t>& out, std::span<std::uint16_t> changed_per_cell) {
    auto& state = *state_;
    state.check(camera, reference, threshold);
    if (!changed_per_cell.empty() && std::ssize(changed_per_cell) != state.cells.count())
        fail(ErrorCode::usage, "the frame has {} cells, but the counts are for {}", state.cells.count(),
             changed_per_cell.size());
    std::ranges::fill(changed_per_cell, std::uint16_t{0});
    for (auto& worker : state.workers) worker.found = {};
    state.writer.write_found({PackedHead::Kind::changes, threshold}, state.strips.count(), state.grid.count(),
                             state.pool, out,
                             [&](std::size_t worker, std::size_t strip, std::vector<std::uint8_t>& bytes, auto&& took) {
                                 state.pack(state.workers[worker], state.strips[strip], camera, reference, threshold,
                                            changed_per_cell, bytes, took);
                             });
    return state.found();
}

Summary ExactPacker::update(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                            BlockSet& changed) {
    auto& state = *state_;
    state.check(camera, reference, threshold);
    changed.assign(static_cast<std::size_t>(state.grid.count()), 0);
    for (auto& worker : state.workers) worker.found = {};
    for_block_groups(state.pool, state.strips.count(), [&](std::size_t number, std::size_t index) {
        auto& worker = state.workers[number];
        const auto strip = state.strips[index];
        auto of_strip = state.compare(worker, strip, camera, reference, threshold);
        for (const auto& block : of_strip.all()) {
            clear_parts(worker.differences.view(), block.place, block.parts);
            changed[static_cast<std::size_t>(State::number_of(block, strip))] = 1;
        }
    });
    return state.found();
}

}  // namespace framewire::codec
