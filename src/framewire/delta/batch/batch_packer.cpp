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
#include <vector>

namespace framewire::delta {
namespace {

/// Room for the coded blocks of a batch.
class BlockSlots {
public:
    BlockSlots(int blocks, int channels, const cuda::Stream& stream)
        : slot_bytes_(static_cast<std::uint32_t>(
              (block_side * block_side * max_pixel_bytes(channels) + max_part_bytes + 15) / 16 * 16)),
          bytes_(static_cast<std::size_t>(blocks) * slot_bytes_ + 16) {
        // Words are copied in pairs, and one of a pair may not be the block's.
        cuda::fill(bytes_.data(), 0, bytes_.bytes(), stream);
    }

    CodedBlocks coded(std::uint32_t* sizes) const { return {bytes_.data(), slot_bytes_, sizes}; }

private:
    std::uint32_t slot_bytes_;  // a multiple of 16, so that slots begin at one
    cuda::DeviceBuffer bytes_;
};

/// What a batch begins with as zeros, which one call makes: summaries, the list's counts, sizes of blocks.
class BatchZeros {
public:
    explicit BatchZeros(const BatchBlocks& blocks)
        : summaries_bytes_(static_cast<std::size_t>(blocks.streams) * sizeof(Summary)),
          memory_(summaries_bytes_ +
                  (BlockList::all_counts + static_cast<std::size_t>(blocks.count())) * sizeof(std::uint32_t)) {}

    void make(const cuda::Stream& stream) const { cuda::fill(memory_.data(), 0, memory_.bytes(), stream); }
    Summary* summaries() const { return memory_.as<Summary>(); }
    std::uint32_t* counts() const { return reinterpret_cast<std::uint32_t*>(memory_.data() + summaries_bytes_); }
    std::uint32_t* sizes() const { return counts() + BlockList::all_counts; }

private:
    std::size_t summaries_bytes_;
    cuda::DeviceBuffer memory_;
};

/// What is kept of a batch from its comparing to its packed frames.
struct BatchUnderWay {
    /// Of a batch whose changes are found and coded on a stream of its own.
    struct Changes {
        BatchChangesEncoder encoder;
        cuda::DeviceBuffer differences;
        cuda::Stream coding;
        cuda::Event compared{cuda::Event::Timing::none};
    };

    BatchBlocks blocks;
    BatchZeros zeros;
    BlockSlots slots;
    cuda::DeviceBuffer list, packed, begins, headings, chosen, places;
    std::optional<Changes> changes;
    cuda::Event ready{cuda::Event::Timing::none};

    BatchUnderWay(const BatchBlocks& blocks_, const Shape& of, bool has_changes, const cuda::Stream& stream)
        : blocks(blocks_),
          zeros(blocks),
          slots(blocks.count(), of.channels, stream),
          list(static_cast<std::size_t>(blocks.count()) * sizeof(std::uint32_t)),
          packed(max_packed_bytes(of.with_frames(1)) * static_cast<std::size_t>(of.frames)),
          begins((static_cast<std::size_t>(of.frames) + 1) * sizeof(unsigned long long)),
          headings(static_cast<std::size_t>(of.frames) * sizeof(std::uint32_t)),
          chosen(static_cast<std::size_t>(of.frames)),
          places(static_cast<std::size_t>(blocks.count()) * sizeof(FramePlace)) {
        const auto difference_bytes = static_cast<std::size_t>(blocks.count()) * block_slot_bytes(of.channels);
        if (has_changes)
            changes.emplace(
                Changes{BatchChangesEncoder(blocks), cuda::DeviceBuffer(difference_bytes),
                        cuda::Stream(cuda::Stream::Priority::high)});
        cuda::fill(begins.data(), 0, begins.bytes(), stream);
    }

    /// None of them is coded.
    CodedBlocks coded() const { return slots.coded(zeros.sizes()); }
    /// An empty list, or that of all blocks.
    BlockList begin_list(bool all_blocks) const {
        return {zeros.counts(), all_blocks ? nullptr : list.as<std::uint32_t>(),
                static_cast<std::uint32_t>(blocks.count())};
    }
    /// Queues what makes frames of coded blocks.
    PackedBatch assemble(const CodedFrames& near, const CodedFrames* without_loss, const cuda::Stream& stream) const {
        const PackedFrames frames{packed.data(), begins.as<unsigned long long>(), headings.as<std::uint32_t>(),
                                  chosen.data(), places.as<FramePlace>()};
        assemble_frames(blocks, near, without_loss, frames, stream);
        return {frames.bytes, frames.begins, zeros.summaries(), blocks.streams, &ready};
    }
};

}  // namespace

struct BatchPacker::State {
    Shape shape;
    BatchBlocks blocks;
    Executor* executor;
    DeviceCoderTables tables;

    struct Bounded {
        BatchPredictionEncoder encoder;
        BlockSlots without_loss;
        cuda::DeviceImage after;
        cuda::DeviceBuffer off, sizes_without_loss;  // of each block, bytes
    };
    std::optional<Bounded> bounded;
    // They take turns, so that in other modes a batch is coded while changes of the next one are found and a third one
    // is compared.
    std::vector<BatchUnderWay> batches;
    std::size_t turn = 0;

    State(const EncoderParameters& parameters, const Shape& of, Executor& executor_)
        : shape(of), blocks{BlockGrid(of), of.channels, of.frames}, executor(&executor_), tables(executor_.stream()) {
        if (parameters.mode == Mode::bounded)
            bounded.emplace(
                Bounded{BatchPredictionEncoder(of.channels, Effort::of(parameters.effort)),
                        BlockSlots(blocks.count(), of.channels, stream()), cuda::DeviceImage(of),
                        cuda::DeviceBuffer(static_cast<std::size_t>(blocks.count()) * sizeof(std::uint32_t)),
                        cuda::DeviceBuffer(static_cast<std::size_t>(blocks.count()) * sizeof(std::uint32_t))});
        batches.reserve(packed_batches);
        for (int i = 0; i < (bounded ? 1 : packed_batches); ++i) batches.emplace_back(blocks, of, !bounded, stream());
    }

    const cuda::Stream& stream() const { return executor->stream(); }

    void validate_views(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference,
                        int threshold) const {
        validate(current, shape, "the batch packer's frames");
        validate(reference, shape, "the batch packer's reference");
        validate_packed_threshold(threshold);
    }
    /// The batch whose turn it is; the stream of work goes on when its last frames are made.
    BatchUnderWay& begin() {
        auto& batch = batches[turn];
        turn = (turn + 1) % batches.size();
        if (batch.changes) batch.ready.make_wait(stream());
        batch.zeros.make(stream());
        return batch;
    }
    CodedFrames pictures(DeviceView<const std::uint8_t> of, const CodedBlocks& coded, int threshold) const {
        encode_pictures(of, tables.tables(), coded, stream());
        return {coded, {PackedHead::Kind::picture, threshold}};
    }
    PackedBatch pack_changes(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                             int threshold) {
        auto& batch = begin();
        auto& [encoder, differences, coding, compared] = *batch.changes;
        const auto list = batch.begin_list(false);
        const auto coded = batch.coded();
        compare_blocks(current, reference, threshold, list, differences.data(), batch.zeros.summaries(), nullptr,
                       stream());
        compared.record(stream());
        compared.make_wait(coding);
        encoder.encode(list, differences.data(), threshold, tables.tables(), coded, coding);
        const auto packed = batch.assemble({coded, {PackedHead::Kind::changes, threshold}}, nullptr, coding);
        batch.ready.record(coding);
        return packed;
    }
    PackedBatch pack_bounded(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                             int threshold) {
        auto& batch = begin();
        const auto list = batch.begin_list(false);
        const auto coded = batch.coded();
        auto* const summaries = batch.zeros.summaries();
        auto* const off = bounded->off.as<std::uint32_t>();
        compare_blocks(current, reference, threshold, list, nullptr, summaries, off, stream());
        const auto after = bounded->after.view();
        bounded->encoder.encode(current, reference, after, list, threshold, false, tables.tables(), coded, stream());
        advance_blocks(current, after, reference, list, nullptr, summaries, stream());
        auto packed = batch.assemble({coded, {PackedHead::Kind::prediction, threshold}}, nullptr, stream());
        packed.off = off;
        batch.ready.record(stream());
        return packed;
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
    auto& batch = state.begin();
    const auto all = batch.begin_list(true);
    const auto coded = batch.coded();
    const auto without_loss = state.pictures(
        current, state.bounded->without_loss.coded(state.bounded->sizes_without_loss.as<std::uint32_t>()), threshold);
    const auto after = state.bounded->after.view();
    state.bounded->encoder.encode(current, reference, after, all, within, true, state.tables.tables(), coded,
                                  state.stream());
    const auto packed =
        batch.assemble({coded, {PackedHead::Kind::first_picture, within}}, &without_loss, state.stream());
    advance_blocks(current, after, reference, all, batch.chosen.data(), batch.zeros.summaries(), state.stream());
    batch.ready.record(state.stream());
    return packed;
}

PackedBatch BatchPacker::pack_steps(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                    int threshold) {
    auto& state = *state_;
    state.validate_views(current, reference, threshold);
    return state.bounded ? state.pack_bounded(current, reference, threshold)
                         : state.pack_changes(current, reference, threshold);
}

PackedBatch BatchPacker::pack_pictures(DeviceView<const std::uint8_t> pictures, int threshold) {
    auto& state = *state_;
    validate(pictures, state.shape, "the batch packer's pictures");
    validate_packed_threshold(threshold);
    auto& batch = state.begin();
    const auto packed = batch.assemble(state.pictures(pictures, batch.coded(), threshold), nullptr, state.stream());
    batch.ready.record(state.stream());
    return packed;
}

}  // namespace framewire::delta
