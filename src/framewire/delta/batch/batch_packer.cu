#include "framewire/delta/batch/batch_packer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/batch/assemble.hpp"
#include "framewire/delta/batch/changes.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/batch/compare.hpp"
#include "framewire/delta/batch/pictures.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <optional>

namespace framewire::delta {

struct BatchPacker::State {
    Shape shape;
    BatchBlocks blocks;
    Executor* executor;
    DeviceCoderTables tables;
    BatchChangesEncoder changes;
    std::size_t bytes;  // that packed frames take at most
    cuda::DeviceBuffer differences, coded_bytes, packed_bytes;
    // Set to zero before each call: how far the list goes, and of each block how long it is.
    struct Counts {
        std::uint32_t listed, next;
    };
    cuda::DeviceBuffer counts, summaries, listed, begins, headings, places;

    State(const Shape& of, Executor& executor_)
        : shape(of),
          blocks{BlockGrid(of), of.channels, of.frames},
          executor(&executor_),
          tables(executor_.stream()),
          changes(of.channels),
          bytes(max_packed_bytes(of.with_frames(1)) * static_cast<std::size_t>(of.frames)),
          differences(count() * block_slot_bytes(of.channels)),
          coded_bytes(count() * slot_bytes() + 16),
          packed_bytes(bytes),
          counts(sizeof(Counts) + count() * sizeof(std::uint32_t)),
          summaries(streams() * sizeof(Summary)),
          listed(count() * sizeof(std::uint32_t)),
          begins((streams() + 1) * sizeof(unsigned long long)),
          headings(streams() * sizeof(std::uint32_t)),
          places(count() * sizeof(FramePlace)) {}

    std::size_t count() const { return static_cast<std::size_t>(blocks.count()); }
    std::size_t streams() const { return static_cast<std::size_t>(shape.frames); }
    /// A multiple of 16, so that slots begin at one.
    std::uint32_t slot_bytes() const {
        return static_cast<std::uint32_t>((max_block_bytes(block_side * block_side, shape.channels) + 15) / 16 * 16);
    }
    const cuda::Stream& stream() const { return executor->stream(); }

    CodedBlocks coded() const {
        return {coded_bytes.data(), slot_bytes(), reinterpret_cast<std::uint32_t*>(counts.data() + sizeof(Counts))};
    }
    BlockList list() const {
        return {&counts.as<Counts>()->listed, &counts.as<Counts>()->next, listed.as<std::uint32_t>()};
    }
    void begin() const {
        cuda::fill(counts.data(), 0, counts.bytes(), stream());
        cuda::fill(summaries.data(), 0, summaries.bytes(), stream());
    }
    PackedBatch finish(const PackedHead& head) const {
        const PackedFrames frames{packed_bytes.data(), begins.as<unsigned long long>(), headings.as<std::uint32_t>(),
                                  places.as<FramePlace>()};
        assemble_frames(blocks, coded(), head, frames, stream());
        return {frames.bytes, frames.begins, summaries.as<Summary>(), shape.frames};
    }
};

BatchPacker::BatchPacker(const Shape& shape, Executor& executor) {
    validate(shape, "the batch packer's frames");
    executor.require_space<MemorySpace::device>("a batch packer");
    state_ = std::make_unique<State>(shape, executor);
}
BatchPacker::~BatchPacker() = default;
BatchPacker::BatchPacker(BatchPacker&&) noexcept = default;
BatchPacker& BatchPacker::operator=(BatchPacker&&) noexcept = default;

PackedBatch BatchPacker::pack_steps(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                    int threshold) {
    auto& state = *state_;
    validate(current, state.shape, "the batch packer's frames");
    validate(reference, state.shape, "the batch packer's reference");
    validate_packed_threshold(threshold);
    state.begin();
    const auto* const differences = state.differences.data();
    compare_blocks(current, reference, threshold, state.list(), state.differences.data(),
                   state.summaries.as<Summary>(), state.stream());
    state.changes.encode(state.blocks, state.list(), differences, threshold, state.tables.tables(), state.coded(),
                         state.stream());
    return state.finish({PackedHead::Kind::changes, threshold});
}

PackedBatch BatchPacker::pack_pictures(DeviceView<const std::uint8_t> pictures, int threshold) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(pictures, state.shape, "the batch packer's pictures");
    state.begin();
    encode_pictures(pictures, state.tables.tables(), state.coded(), state.stream());
    return state.finish({PackedHead::Kind::picture, threshold});
}

}  // namespace framewire::delta
