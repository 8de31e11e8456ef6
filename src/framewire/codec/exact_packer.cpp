#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/changes_coder.hpp"
#include "framewire/codec/encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

// Modes `exact` and `lossless` on the CPU in one pass. A worker takes a strip, compares it with R, and immediately
// codes its changed blocks. It does not write the list of changes that Encoder passes to Packer.
//
//     compare_strip     camera, R       -> R, differences of the strip, changed sub-blocks
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

    // Compares one strip with R and appends its changed blocks to `bytes`. Calls took(block, size) for each of them, in
    // the same order.
    template <class Took>
    void pack(Worker& worker, const Strip& strip, HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference,
              int threshold, std::vector<std::uint8_t>& bytes, Took&& took) {
        const auto differences = worker.differences.view();
        std::array<BlockChanges, Strip::most_blocks> changes{};
        add(worker.found, compare_strip(camera, reference, strip, threshold, differences,
                                        std::span(changes).first(static_cast<std::size_t>(strip.blocks))));
        std::array<ChangedBlock, Strip::most_blocks> changed;
        auto* end = changed.begin();
        for (int block = 0; block < strip.blocks; ++block) {
            const auto& [parts, count] = changes[static_cast<std::size_t>(block)];
            if (count == 0) continue;
            const auto place = grid.place(strip.first_block + block);
            *end++ = {{block * block_side, 0, place.width, place.height}, parts, static_cast<int>(count)};
        }
        // Blocks of similar length are coded together, which keeps the interleaved chains busy.
        std::sort(changed.begin(), end,
                  [](const ChangedBlock& a, const ChangedBlock& b) { return a.samples > b.samples; });
        constexpr auto at_once = ChangesEncoder::at_once;
        std::array<std::size_t, at_once> sizes;
        for (auto left = std::span(changed.begin(), end); !left.empty();) {
            const auto blocks = left.first(std::min(at_once, left.size()));
            left = left.subspan(blocks.size());
            worker.encoder.encode(differences, blocks, threshold, bytes, std::span(sizes).first(blocks.size()));
            for (std::size_t i = 0; i < blocks.size(); ++i)
                took(strip.first_block + blocks[i].place.x / block_side, sizes[i]);
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
                               std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    state.check(camera, reference, threshold);
    for (auto& worker : state.workers) worker.found = {};
    state.writer.write_found(
        {PackedHead::Kind::changes, threshold}, state.strips.count(), state.grid.count(), state.pool, out,
        [&](std::size_t worker, std::size_t strip, std::vector<std::uint8_t>& bytes, auto&& took) {
            state.pack(state.workers[worker], state.strips[strip], camera, reference, threshold, bytes, took);
        });
    Summary found;
    for (const auto& worker : state.workers) add(found, worker.found);
    return found;
}

}  // namespace framewire::codec
