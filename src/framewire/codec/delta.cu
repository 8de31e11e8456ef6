#include "framewire/codec/delta.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::codec {
namespace {

constexpr int threads_per_block = 256;

// Each thread decodes one change at a time. The thread blocks stride over the changes of a stream, because only the
// device knows their number.
//
//     grid.y     stream
//     grid.x     first chunk of 256 changes; each next one is gridDim.x chunks further on
//     thread i   reads positions[i - 1], positions[i], differences[i]; updates one byte of the frame
__global__ void __launch_bounds__(threads_per_block)
    decode_kernel(ChangesView<MemorySpace::device> changes, cuda::KernelImage<std::uint8_t> reference,
                  std::uint32_t row_bytes, std::int64_t frame_bytes) {
    const auto stream = blockIdx.y;
    const auto* positions = changes.positions + stream * changes.capacity;
    const auto* differences = changes.differences + stream * changes.capacity;
    auto* frame = reference.data + stream * reference.frame_stride;
    const auto count = min(std::int64_t{changes.summaries[stream].count}, changes.capacity);
    for (auto i = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * threads_per_block) {
        const auto position = positions[i];
        // Accepted positions ascend, so they are distinct and no two threads update the same byte.
        if (position >= frame_bytes || (i > 0 && positions[i - 1] >= position)) continue;
        auto* byte = frame + position / row_bytes * reference.row_stride + position % row_bytes;
        *byte = static_cast<std::uint8_t>(*byte + differences[i]);
    }
}

}  // namespace

void Decoder::decode(const ChangesView<MemorySpace::device>& changes, DeviceView<std::uint8_t> reference) const {
    validate(reference, shape_, "the decoder's reference");
    validate(changes, shape_, "the decoder's changes");
    const auto blocks = std::clamp<std::int64_t>(shape_.frame_bytes() / (threads_per_block * 16), 1, 512);
    cuda::for_frames(shape_.frames, 1, [&](int first, int streams) {
        auto part = changes;
        part.positions += first * changes.capacity;
        part.differences += first * changes.capacity;
        part.summaries += first;
        cuda::Launch(executor_->stream(), dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(streams)),
                     threads_per_block)(decode_kernel, part, cuda::KernelImage(reference).from_frame(first),
                                        static_cast<std::uint32_t>(shape_.row_bytes()), shape_.frame_bytes());
    });
}

}  // namespace framewire::codec
