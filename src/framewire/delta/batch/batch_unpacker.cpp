#include "framewire/delta/batch/batch_unpacker.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/delta/batch/unpacking/decode.hpp"
#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/packing/directory.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <string>
#include <vector>

namespace framewire::delta {

struct BatchUnpacker::State {
    Shape shape;
    BlockGrid grid;
    Executor* executor;
    DeviceCoderTables tables;
    cuda::DeviceImage after;
    cuda::DeviceBuffer bytes, items, streams, next;
    std::size_t most_bytes;  // of one frame
    std::vector<CodedBlock> coded;
    std::vector<BlockItem> host_items;
    std::vector<StreamItem> host_streams;
    std::vector<std::uint8_t> host_bytes;

    State(const Shape& of, Executor& executor_)
        : shape(of),
          grid(of),
          executor(&executor_),
          tables(executor_.stream()),
          after(of),
          items(static_cast<std::size_t>(grid.count() * of.frames) * sizeof(BlockItem)),
          streams(static_cast<std::size_t>(of.frames) * sizeof(StreamItem)),
          next(sizeof(std::uint32_t)),
          most_bytes(max_packed_bytes(of.with_frames(1))),
          host_streams(static_cast<std::size_t>(of.frames)) {
        coded.reserve(static_cast<std::size_t>(grid.count()));
        host_items.reserve(static_cast<std::size_t>(grid.count() * of.frames));
    }

    /// Adds the blocks of a frame; false where its bytes do not fit together.
    bool add(int stream, std::span<const std::uint8_t> frame) {
        auto& of = host_streams[static_cast<std::size_t>(stream)];
        if (frame.size() < PackedHead::bytes || frame.size() > most_bytes) return false;
        of.kind = frame[0];
        of.threshold = frame[1];
        if (of.kind > static_cast<int>(PackedHead::Kind::blocks) || of.threshold > PackedHead::max_threshold)
            return false;
        if (!read_directory(frame.subspan(PackedHead::bytes), grid.count(), coded)) return false;
        const auto kind = static_cast<PackedHead::Kind>(of.kind);
        const bool is_picture = kind == PackedHead::Kind::picture || kind == PackedHead::Kind::first_picture;
        if (is_picture && coded.size() != static_cast<std::size_t>(grid.count())) return false;
        for (const auto& block : coded)
            host_items.push_back({host_bytes.size() + static_cast<std::size_t>(block.bytes.data() - frame.data()),
                                  static_cast<std::uint32_t>(block.bytes.size()), stream * grid.count() + block.block});
        host_bytes.insert(host_bytes.end(), frame.begin(), frame.end());
        return true;
    }
};

BatchUnpacker::BatchUnpacker(const Shape& shape, Executor& executor) {
    validate(shape, "the batch unpacker's frames");
    executor.require_space<MemorySpace::device>("a batch unpacker");
    state_ = std::make_unique<State>(shape, executor);
}
BatchUnpacker::~BatchUnpacker() = default;
BatchUnpacker::BatchUnpacker(BatchUnpacker&&) noexcept = default;
BatchUnpacker& BatchUnpacker::operator=(BatchUnpacker&&) noexcept = default;

void BatchUnpacker::apply(std::span<const std::span<const std::uint8_t>> frames, DeviceView<std::uint8_t> reference) {
    auto& state = *state_;
    validate(reference, state.shape, "the batch unpacker's reference");
    if (frames.size() != state.host_streams.size())
        fail(ErrorCode::usage, (std::to_string(frames.size()) + " packed frames for " +
                                std::to_string(state.host_streams.size()) + " streams")
                                   .c_str());
    state.host_items.clear();
    state.host_bytes.clear();
    for (std::size_t stream = 0; stream < frames.size(); ++stream) {
        state.host_streams[stream] = {};
        if (frames[stream].empty()) continue;
        state.host_streams[stream].broken = !state.add(static_cast<int>(stream), frames[stream]);
    }
    constexpr std::size_t slack = 16;
    if (state.bytes.bytes() < state.host_bytes.size() + slack)
        state.bytes = cuda::DeviceBuffer(2 * (state.host_bytes.size() + slack));
    const auto& stream = state.executor->stream();
    cuda::upload(state.host_bytes.data(), state.bytes.data(), state.host_bytes.size(), stream);
    cuda::upload(state.host_items.data(), state.items.data(), state.host_items.size() * sizeof(BlockItem), stream);
    const auto stream_bytes = state.host_streams.size() * sizeof(StreamItem);
    cuda::upload(state.host_streams.data(), state.streams.data(), stream_bytes, stream);
    cuda::fill(state.next.data(), 0, state.next.bytes(), stream);
    const DecodeJob job{state.bytes.data(),
                        state.items.as<BlockItem>(),
                        static_cast<std::uint32_t>(state.host_items.size()),
                        state.next.as<std::uint32_t>(),
                        state.streams.as<StreamItem>(),
                        state.tables.tables()};
    decode_blocks(job, reference, state.after.view(), stream);
    apply_blocks(job, std::as_const(state.after).view(), reference, stream);
    cuda::download(state.streams.data(), state.host_streams.data(), stream_bytes, stream);
    stream.synchronize();
    for (std::size_t of = 0; of < state.host_streams.size(); ++of)
        if (state.host_streams[of].broken)
            fail(ErrorCode::source_lost, ("broken stream: number " + std::to_string(of) + " of a batch").c_str());
}

}  // namespace framewire::delta
