#include "framewire/cuda/check.hpp"
#include "framewire/delta/delta.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::delta {
namespace {

constexpr int threads_per_block = 256;

// A thread a change, blocks striding over a stream's changes (their number is known on the device alone).
__global__ void __launch_bounds__(threads_per_block)
    decode_kernel(ChangesView<MemorySpace::device> changes, std::uint8_t* reference, std::int64_t frame_stride,
                  std::int64_t row_stride, std::uint32_t row_bytes, std::int64_t frame_bytes) {
    const auto stream = blockIdx.y;
    const auto* positions = changes.positions + stream * changes.capacity;
    const auto* differences = changes.differences + stream * changes.capacity;
    auto* frame = reference + stream * frame_stride;
    const auto count = min(std::int64_t{changes.summaries[stream].count}, changes.capacity);
    for (auto i = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * threads_per_block) {
        const auto position = positions[i];
        // Ascending positions are distinct, so no two threads meet at one byte.
        if (position >= frame_bytes || (i > 0 && positions[i - 1] >= position)) continue;
        auto* byte = frame + position / row_bytes * row_stride + position % row_bytes;
        *byte = static_cast<std::uint8_t>(*byte + differences[i]);
    }
}

}  // namespace

void Decoder::decode(const ChangesView<MemorySpace::device>& changes, DeviceView<std::uint8_t> reference) const {
    validate(reference, shape_, "the decoder's reference");
    validate(changes, shape_, "the decoder's changes");
    const auto blocks = std::clamp<std::int64_t>(shape_.frame_bytes() / (threads_per_block * 16), 1, 512);
    constexpr int most_streams = 65535;  // a grid's height
    for (int first = 0; first < shape_.frames; first += most_streams) {
        const auto streams = std::min(most_streams, shape_.frames - first);
        auto part = changes;
        part.positions += first * changes.capacity;
        part.differences += first * changes.capacity;
        part.summaries += first;
        decode_kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(streams)), threads_per_block, 0,
                        executor_->stream().handle()>>>(
            part, reference.row(first, 0), reference.frame_stride_bytes(), reference.row_stride_bytes(),
            static_cast<std::uint32_t>(shape_.row_bytes()), shape_.frame_bytes());
        cuda::check_launch();
    }
}

}  // namespace framewire::delta
