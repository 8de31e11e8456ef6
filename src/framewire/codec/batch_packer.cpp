#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/batch_kernels.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"

#include <cstddef>

// Mode `bounded` for batches on the GPU. pack_step() queues, without waiting for any result:
//
//     compare_blocks     camera, R       -> list of blocks, off, summaries
//     encoder.encode     listed blocks   -> coded blocks in slots, reconstruction in `after`
//     advance_blocks     `after`         -> R, summaries
//     assemble_frames    coded blocks    -> packed frames and their offsets
//
// pack_first() codes each keyframe in two forms, near and lossless, and lets assemble_frames() choose. At effort 0, it
// codes only the lossless form.

namespace framewire::codec {
namespace {

// Memory with a slot per block of a batch for its coded bytes. A slot has the maximum size of a coded block.
class BlockSlots {
public:
    BlockSlots(int blocks, int channels, const cuda::Stream& stream)
        : slot_bytes_(static_cast<std::uint32_t>(
              (block_side * block_side * max_pixel_bytes(channels) + max_part_bytes + 15) / 16 * 16)),
          bytes_(static_cast<std::size_t>(blocks) * slot_bytes_ + 16) {
        // Kernels copy words in pairs, and one word of a pair may lie outside its block. The fill initializes the
        // memory for such reads.
        cuda::fill(bytes_.data(), 0, bytes_.bytes(), stream);
    }

    CodedBlocks coded(std::uint32_t* sizes) const { return {bytes_.data(), slot_bytes_, sizes}; }

private:
    std::uint32_t slot_bytes_;  // a multiple of 16, which aligns every slot
    cuda::DeviceBuffer bytes_;
};

// Memory that must be zero when a batch begins: summaries, counters of the block list, and block sizes. It is one
// buffer, so that a single fill clears it.
class BatchZeros {
public:
    explicit BatchZeros(const BatchBlocks& blocks)
        : summaries_bytes_(static_cast<std::size_t>(blocks.streams) * sizeof(Summary)),
          memory_(summaries_bytes_ +
                  (BlockList::all_counts + static_cast<std::size_t>(blocks.count())) * sizeof(std::uint32_t)) {}

    void clear(const cuda::Stream& stream) const { cuda::fill(memory_.data(), 0, memory_.bytes(), stream); }
    Summary* summaries() const { return memory_.as<Summary>(); }
    std::uint32_t* counts() const { return reinterpret_cast<std::uint32_t*>(memory_.data() + summaries_bytes_); }
    std::uint32_t* sizes() const { return counts() + BlockList::all_counts; }

private:
    std::size_t summaries_bytes_;
    cuda::DeviceBuffer memory_;
};

cuda::DeviceBuffer counters(int count) { return cuda::DeviceBuffer(static_cast<std::size_t>(count) * 4); }

}  // namespace

struct BoundedBatchPacker::State {
    Shape shape;
    BatchBlocks blocks;
    Executor* executor;
    DeviceCoderTables tables;
    Effort effort;
    BatchPredictionEncoder encoder;
    BlockSlots slots, lossless_slots;  // lossless_slots is for the lossless form of keyframes
    BatchZeros zeros;
    cuda::DeviceBuffer list, off, lossless_sizes;  // per block
    cuda::DeviceImage after;
    cuda::DeviceBuffer packed, begins, headings, chosen, places;
    cuda::Event ready{cuda::Event::Timing::none};

    State(const Shape& of, int level, Executor& executor_)
        : shape(of),
          blocks{BlockGrid(of), of.channels, of.frames},
          executor(&executor_),
          tables(stream()),
          effort(Effort::of(level)),
          encoder(of.channels, effort),
          slots(blocks.count(), of.channels, stream()),
          lossless_slots(blocks.count(), of.channels, stream()),
          zeros(blocks),
          list(counters(blocks.count())),
          off(counters(blocks.count())),
          lossless_sizes(counters(blocks.count())),
          after(of),
          packed(max_packed_bytes(of.with_frames(1)) * static_cast<std::size_t>(of.frames)),
          begins((static_cast<std::size_t>(of.frames) + 1) * sizeof(unsigned long long)),
          headings(counters(of.frames)),
          chosen(static_cast<std::size_t>(of.frames)),
          places(static_cast<std::size_t>(blocks.count()) * sizeof(FramePlace)) {
        cuda::fill(begins.data(), 0, begins.bytes(), stream());
    }

    const cuda::Stream& stream() const { return executor->stream(); }

    void validate_views(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference,
                        int threshold) const {
        validate(current, shape, "the batch packer's frames");
        validate(reference, shape, "the batch packer's reference");
        validate_packed_threshold(threshold);
    }
    CodedBlocks coded() const { return slots.coded(zeros.sizes()); }
    // Returns the list of all blocks if `all_blocks` is set, otherwise an empty list.
    BlockList begin_list(bool all_blocks) const {
        return {zeros.counts(), all_blocks ? nullptr : list.as<std::uint32_t>(),
                static_cast<std::uint32_t>(blocks.count())};
    }
    // Codes `pictures` losslessly to `to`.
    CodedFrames lossless(DeviceView<const std::uint8_t> pictures, const CodedBlocks& to, int threshold) const {
        encode_pictures(pictures, tables.tables(), to, stream());
        return {to, {PackedHead::Kind::picture, threshold}};
    }
    // Joins the coded blocks into packed frames. If `lossless_instead` is not null, the kernel chooses between the two
    // forms per stream.
    PackedBatch assemble(const CodedFrames& near, const CodedFrames* lossless_instead) const {
        const PackedFrames frames{packed.data(), begins.as<unsigned long long>(), headings.as<std::uint32_t>(),
                                  chosen.data(), places.as<FramePlace>()};
        assemble_frames(blocks, near, lossless_instead, frames, stream());
        return {frames.bytes, frames.begins, zeros.summaries(), blocks.streams, &ready};
    }
};

BoundedBatchPacker::BoundedBatchPacker(const Shape& shape, int effort, Executor& executor) {
    validate(shape, "the batch packer's frames");
    executor.require_space<MemorySpace::device>("a batch packer");
    state_ = std::make_unique<State>(shape, effort, executor);
}
BoundedBatchPacker::~BoundedBatchPacker() = default;
BoundedBatchPacker::BoundedBatchPacker(BoundedBatchPacker&&) noexcept = default;
BoundedBatchPacker& BoundedBatchPacker::operator=(BoundedBatchPacker&&) noexcept = default;

void BoundedBatchPacker::set_effort(int effort) {
    state_->effort = Effort::of(effort);
    state_->encoder.set_effort(state_->effort);
}

PackedBatch BoundedBatchPacker::pack_first(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                           int threshold) {
    auto& state = *state_;
    const auto& stream = state.stream();
    state.validate_views(current, reference, threshold);
    state.zeros.clear(stream);
    PackedBatch packed{};
    // A keyframe with threshold 0 is lossless, and so are all keyframes at effort 0. Only the lossless form is coded.
    if (const int within = first_threshold(threshold); within == 0 || !state.effort.searches()) {
        cuda::copy(current, reference, stream);
        packed = state.assemble(state.lossless(current, state.coded(), threshold), nullptr);
    } else {
        // Both forms are coded, and assemble_frames() chooses per stream, because only the device knows the sizes.
        const auto all = state.begin_list(true);
        const auto coded = state.coded();
        const auto lossless =
            state.lossless(current, state.lossless_slots.coded(state.lossless_sizes.as<std::uint32_t>()), threshold);
        const auto after = state.after.view();
        state.encoder.encode(current, reference, after, all, within, true, state.tables.tables(), coded, stream);
        packed = state.assemble({coded, {PackedHead::Kind::first_picture, within}}, &lossless);
        advance_blocks(current, after, reference, all, state.chosen.data(), state.zeros.summaries(), stream);
    }
    state.ready.record(stream);
    return packed;
}

PackedBatch BoundedBatchPacker::pack_step(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                                          int threshold) {
    auto& state = *state_;
    const auto& stream = state.stream();
    state.validate_views(current, reference, threshold);
    state.zeros.clear(stream);
    const auto list = state.begin_list(false);
    const auto coded = state.coded();
    auto* const summaries = state.zeros.summaries();
    auto* const off = state.off.as<std::uint32_t>();
    compare_blocks(current, reference, threshold, list, summaries, off, stream);
    const auto after = state.after.view();
    state.encoder.encode(current, reference, after, list, threshold, false, state.tables.tables(), coded, stream);
    advance_blocks(current, after, reference, list, nullptr, summaries, stream);
    auto packed = state.assemble({coded, {PackedHead::Kind::prediction, threshold}}, nullptr);
    packed.off = off;
    state.ready.record(stream);
    return packed;
}

}  // namespace framewire::codec
