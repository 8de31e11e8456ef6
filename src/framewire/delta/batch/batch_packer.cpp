#include "framewire/delta/batch/batch_packer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/batch/packing/assemble.hpp"
#include "framewire/delta/batch/packing/changes.hpp"
#include "framewire/delta/batch/packing/compare.hpp"
#include "framewire/delta/batch/packing/pictures.hpp"
#include "framewire/delta/batch/packing/prediction/advance.hpp"
#include "framewire/delta/batch/packing/prediction/prediction.hpp"
#include "framewire/delta/blocks/block_bytes.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <optional>

namespace framewire::delta {
namespace {

/// Room for the coded blocks of a batch.
class BlockSlots {
public:
    BlockSlots() = default;
    BlockSlots(int blocks, int channels, const cuda::Stream& stream)
        : slot_bytes_(static_cast<std::uint32_t>(
              (block_side * block_side * max_pixel_bytes(channels) + max_part_bytes + 15) / 16 * 16)),
          bytes_(static_cast<std::size_t>(blocks) * slot_bytes_ + 16),
          sizes_(static_cast<std::size_t>(blocks) * sizeof(std::uint32_t)) {
        // Words are copied in pairs, and one of a pair may not be the block's.
        cuda::fill(bytes_.data(), 0, bytes_.bytes(), stream);
    }

    /// Of what each block had before.
    CodedBlocks coded() const { return {bytes_.data(), slot_bytes_, sizes_.as<std::uint32_t>()}; }
    /// With no block coded.
    CodedBlocks empty(const cuda::Stream& stream) const {
        cuda::fill(sizes_.data(), 0, sizes_.bytes(), stream);
        return coded();
    }

private:
    std::uint32_t slot_bytes_ = 0;  // a multiple of 16, so that slots begin at one
    cuda::DeviceBuffer bytes_, sizes_;
};

}  // namespace

struct BatchPacker::State {
    static constexpr std::size_t list_counts = 3;  // of BlockList

    Shape shape;
    BatchBlocks blocks;
    Executor* executor;
    DeviceCoderTables tables;
    BlockSlots slots;
    cuda::DeviceBuffer list, summaries, packed, begins, headings, chosen, places;

    // Of the modes that find changes, and of the mode bounded.
    struct Exact {
        BatchChangesEncoder encoder;
        cuda::DeviceBuffer differences;
    };
    struct Bounded {
        BatchPredictionEncoder encoder;
        BlockSlots without_loss;
        cuda::DeviceImage after;
        cuda::DeviceBuffer off;  // of each block, bytes
    };
    std::optional<Exact> exact;
    std::optional<Bounded> bounded;

    State(const EncoderParameters& parameters, const Shape& of, Executor& executor_)
        : shape(of),
          blocks{BlockGrid(of), of.channels, of.frames},
          executor(&executor_),
          tables(executor_.stream()),
          slots(blocks.count(), of.channels, executor_.stream()),
          list((list_counts + count()) * sizeof(std::uint32_t)),
          summaries(streams() * sizeof(Summary)),
          packed(max_packed_bytes(of.with_frames(1)) * streams()),
          begins((streams() + 1) * sizeof(unsigned long long)),
          headings(streams() * sizeof(std::uint32_t)),
          chosen(streams()),
          places(count() * sizeof(FramePlace)) {
        if (parameters.mode == Mode::bounded)
            bounded.emplace(Bounded{BatchPredictionEncoder(of.channels, Effort::of(parameters.effort)),
                                    BlockSlots(blocks.count(), of.channels, executor_.stream()), cuda::DeviceImage(of),
                                    cuda::DeviceBuffer(count() * sizeof(std::uint32_t))});
        else
            exact.emplace(
                Exact{BatchChangesEncoder(blocks), cuda::DeviceBuffer(count() * block_slot_bytes(of.channels))});
        cuda::fill(begins.data(), 0, begins.bytes(), stream());
    }

    std::size_t count() const { return static_cast<std::size_t>(blocks.count()); }
    std::size_t streams() const { return static_cast<std::size_t>(shape.frames); }
    const cuda::Stream& stream() const { return executor->stream(); }

    void validate_views(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference,
                        int threshold) const {
        validate(current, shape, "the batch packer's frames");
        validate(reference, shape, "the batch packer's reference");
        validate_packed_threshold(threshold);
    }
    /// An empty list, or that of all blocks; and no summaries.
    BlockList begin(bool all_blocks) const {
        auto* const counts = list.as<std::uint32_t>();
        cuda::fill(counts, 0, list_counts * sizeof(std::uint32_t), stream());
        cuda::fill(summaries.data(), 0, summaries.bytes(), stream());
        return {counts, all_blocks ? nullptr : counts + list_counts, static_cast<std::uint32_t>(count())};
    }
    PackedBatch assemble(const CodedFrames& near, const CodedFrames* without_loss = nullptr) const {
        const PackedFrames frames{packed.data(), begins.as<unsigned long long>(), headings.as<std::uint32_t>(),
                                  chosen.data(), places.as<FramePlace>()};
        assemble_frames(blocks, near, without_loss, frames, stream());
        return {frames.bytes, frames.begins, summaries.as<Summary>(), shape.frames};
    }
    CodedFrames pictures(DeviceView<const std::uint8_t> of, const BlockSlots& in, int threshold) const {
        const auto coded = in.coded();
        encode_pictures(of, tables.tables(), coded, stream());
        return {coded, {PackedHead::Kind::picture, threshold}};
    }
};

BatchPacker::BatchPacker(const EncoderParameters& parameters, const Shape& shape, Executor& executor) {
    validate(shape, "the batch packer's frames");
    validate(parameters, "the batch packer");
    executor.require_space<MemorySpace::device>("a batch packer");
    state_ = std::make_unique<State>(parameters, shape, executor);
}
BatchPacker::~BatchPacker() = default;
BatchPacker::BatchPacker(BatchPacker&&) noexcept = default;
BatchPacker& BatchPacker::operator=(BatchPacker&&) noexcept = default;

PackedBatch BatchPacker::pack_first(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                    int threshold) {
    auto& state = *state_;
    state.validate_views(current, reference, threshold);
    const int within = first_threshold(threshold);
    if (!state.bounded || within == 0) {
        cuda::copy(current, reference, state.stream());
        return pack_pictures(current, threshold);
    }
    const auto all = state.begin(true);
    const auto coded = state.slots.empty(state.stream());
    const auto without_loss = state.pictures(current, state.bounded->without_loss, threshold);
    const auto after = state.bounded->after.view();
    state.bounded->encoder.encode(current, reference, after, all, within, true, state.tables.tables(), coded,
                                  state.stream());
    const auto packed = state.assemble({coded, {PackedHead::Kind::first_picture, within}}, &without_loss);
    advance_blocks(current, after, reference, all, state.chosen.data(), state.summaries.as<Summary>(), state.stream());
    return packed;
}

PackedBatch BatchPacker::pack_steps(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                    int threshold) {
    auto& state = *state_;
    state.validate_views(current, reference, threshold);
    const auto list = state.begin(false);
    const auto coded = state.slots.empty(state.stream());
    auto* const summaries = state.summaries.as<Summary>();
    if (state.exact) {
        auto* const differences = state.exact->differences.data();
        compare_blocks(current, reference, threshold, list, differences, summaries, nullptr, state.stream());
        state.exact->encoder.encode(list, differences, threshold, state.tables.tables(), coded, state.stream());
        return state.assemble({coded, {PackedHead::Kind::changes, threshold}});
    }
    auto* const off = state.bounded->off.as<std::uint32_t>();
    compare_blocks(current, reference, threshold, list, nullptr, summaries, off, state.stream());
    const auto after = state.bounded->after.view();
    state.bounded->encoder.encode(current, reference, after, list, threshold, false, state.tables.tables(), coded,
                                  state.stream());
    advance_blocks(current, after, reference, list, nullptr, summaries, state.stream());
    auto packed = state.assemble({coded, {PackedHead::Kind::prediction, threshold}});
    packed.off = off;
    return packed;
}

PackedBatch BatchPacker::pack_pictures(DeviceView<const std::uint8_t> pictures, int threshold) {
    auto& state = *state_;
    validate(pictures, state.shape, "the batch packer's pictures");
    validate_packed_threshold(threshold);
    state.begin(true);
    return state.assemble(state.pictures(pictures, state.slots, threshold));
}

}  // namespace framewire::delta
