#include "framewire/core/error.hpp"
#include "framewire/delta/delta.hpp"

namespace framewire::delta {
namespace {

void check_positions(const std::uint32_t* positions, std::uint32_t count, std::int64_t frame_bytes) {
    std::int64_t last = -1;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (positions[i] <= last)
            fail(ErrorCode::source_lost, "change {} is at byte {}, after byte {}: positions must ascend", i,
                 positions[i], last);
        last = positions[i];
    }
    if (last >= frame_bytes) fail(ErrorCode::source_lost, "a change is at byte {} of a frame of {}", last, frame_bytes);
}

}  // namespace

void Decoder::decode(const ChangesView<MemorySpace::host>& changes, HostView<std::uint8_t> reference) const {
    validate(reference, shape_, "the decoder's reference");
    validate_found(changes, shape_, "the decoder's changes");
    for (int stream = 0; stream < shape_.frames; ++stream) {
        const auto count = changes.summaries[stream].count;
        if (count > changes.capacity)
            fail(ErrorCode::source_lost, "{} changes in a frame of {} bytes", count, changes.capacity);
        check_positions(changes.positions + stream * changes.capacity, count, shape_.frame_bytes());
    }
    executor_->pool().for_chunks(shape_.frames, 1, [&](std::int64_t stream, std::int64_t, std::int64_t) {
        const auto* positions = changes.positions + stream * changes.capacity;
        const auto* differences = changes.differences + stream * changes.capacity;
        const auto count = changes.summaries[stream].count;
        const auto frame = reference.frames(static_cast<int>(stream), 1);
        const auto row_bytes = static_cast<std::uint32_t>(shape_.row_bytes());
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto y = static_cast<int>(positions[i] / row_bytes);
            auto& byte = frame.row(0, y)[positions[i] % row_bytes];
            byte = static_cast<std::uint8_t>(byte + differences[i]);
        }
    });
}

}  // namespace framewire::delta
