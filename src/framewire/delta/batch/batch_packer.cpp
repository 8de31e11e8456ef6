#include "framewire/delta/batch/batch_packer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/batch/batch_under_way.hpp"
#include "framewire/delta/batch/packing/pictures.hpp"
#include "framewire/delta/batch/packing/prediction/advance.hpp"
#include "framewire/delta/batch/packing/prediction/prediction.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <optional>
#include <vector>

namespace framewire::delta {

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
