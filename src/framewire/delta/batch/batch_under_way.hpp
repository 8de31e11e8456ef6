#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/delta/batch/batch_packer.hpp"
#include "framewire/delta/batch/coded_blocks.hpp"
#include "framewire/delta/batch/packing/assemble.hpp"
#include "framewire/delta/batch/packing/changes.hpp"
#include "framewire/delta/batch/packing/compare.hpp"
#include "framewire/delta/blocks/block_bytes.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace framewire::delta {

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
            changes.emplace(Changes{BatchChangesEncoder(blocks), cuda::DeviceBuffer(difference_bytes),
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

}  // namespace framewire::delta
