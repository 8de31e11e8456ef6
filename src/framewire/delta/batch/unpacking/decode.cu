#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/delta/batch/unpacking/decode.hpp"
#include "framewire/delta/batch/unpacking/read_pictures.cuh"
#include "framewire/delta/batch/unpacking/read_runs.cuh"
#include "framewire/delta/batch/unpacking/read_steps.cuh"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>
#include <cstdint>

// A warp decodes a block. What is read next hangs on what was read before, so its lanes do the same, but where they
// find symbols, foretell a part's samples, and are the states of a picture's residuals.

namespace framewire::delta {
namespace decode_kernels {
namespace {

constexpr int warp_lanes = 32;

struct Job {
    DecodeJob of;
    DecodeImages images;
    BatchBlocks blocks;
};

template <int channels>
union Shared {
    StepsMemory<channels> steps;
    PictureMemory<channels> picture;
};

template <int channels>
__global__ void __launch_bounds__(warp_lanes) decode_blocks_kernel(Job job) {
    extern __shared__ __align__(16) std::uint8_t memory[];
    auto& shared = *reinterpret_cast<Shared<channels>*>(memory);
    for (;;) {
        std::uint32_t number = 0;
        if (threadIdx.x == 0) number = atomicAdd(job.of.next, 1u);
        number = __shfl_sync(~0u, number, 0);
        if (number >= job.of.item_count) return;
        const auto& item = job.of.items[number];
        const int stream = job.blocks.stream(item.block);
        const auto kind = static_cast<PackedHead::Kind>(job.of.streams[stream].kind);
        const CodedBlockBytes block{job.blocks.place(item.block), stream, job.of.streams[stream].threshold,
                                    job.of.bytes + item.begin, item.size};
        bool whole;
        if (kind == PackedHead::Kind::picture || kind == PackedHead::Kind::blocks) {
            whole = read_picture(job.images, block, shared.picture);
        } else {
            const bool changes = kind == PackedHead::Kind::changes;
            whole = changes && step_states::is_in_runs(block.bytes, block.size)
                        ? read_runs(job.images, block, shared.steps)
                        : read_steps(job.images, block, shared.steps, changes, kind == PackedHead::Kind::first_picture);
            __syncwarp();
            const int row_bytes = block.place.width * channels;
            for (int y = 0; whole && y < block.place.height; ++y)
                for (int i = static_cast<int>(threadIdx.x); i < row_bytes; i += warp_lanes)
                    job.images.after.row(stream, block.place.y + y)[std::int64_t{block.place.x} * channels + i] =
                        shared.steps.samples[y * block_side * channels + i];
        }
        if (!whole && threadIdx.x == 0) job.of.streams[stream].broken = 1;
        __syncwarp();
    }
}

constexpr int apply_threads = 128;

struct ApplyJob {
    DecodeJob of;
    cuda::KernelImage<const std::uint8_t> after;
    cuda::KernelImage<std::uint8_t> reference;
    BatchBlocks blocks;
};

__global__ void __launch_bounds__(apply_threads) apply_blocks_kernel(ApplyJob job) {
    const auto& item = job.of.items[blockIdx.x];
    const int stream = job.blocks.stream(item.block);
    const auto of_stream = job.of.streams[stream];
    if (of_stream.broken) return;
    const bool changes = static_cast<PackedHead::Kind>(of_stream.kind) == PackedHead::Kind::changes;
    const auto place = job.blocks.place(item.block);
    const auto from = std::int64_t{place.x} * job.blocks.channels;
    const int row_bytes = place.width * job.blocks.channels;
    for (int y = static_cast<int>(threadIdx.x / 32); y < place.height; y += apply_threads / 32) {
        const auto* after = job.after.row(stream, place.y + y) + from;
        auto* held = job.reference.row(stream, place.y + y) + from;
        for (int i = static_cast<int>(threadIdx.x % 32); i < row_bytes; i += 32)
            held[i] = static_cast<std::uint8_t>(changes ? held[i] + after[i] : after[i]);
    }
}

template <class Body>
auto with_kernel(int channels, Body&& body) {
    return channels == 1 ? body(decode_blocks_kernel<1>, sizeof(Shared<1>))
                         : body(decode_blocks_kernel<3>, sizeof(Shared<3>));
}

}  // namespace
}  // namespace decode_kernels

void decode_blocks(const DecodeJob& of, DeviceView<const std::uint8_t> before, DeviceView<std::uint8_t> after,
                   const cuda::Stream& stream) {
    using namespace decode_kernels;
    if (of.item_count == 0) return;
    const auto& shape = before.shape();
    const Job job{of,
                  {cuda::KernelImage(before), cuda::KernelImage(after), shape.width, shape.height, of.tables},
                  {BlockGrid(shape), shape.channels, shape.frames}};
    with_kernel(shape.channels, [&](auto* kernel, std::size_t shared) {
        const auto workers = cuda::blocks_at_once(kernel, warp_lanes, shared);
        cuda::Launch(stream, std::min(workers, of.item_count), warp_lanes, shared)(kernel, job);
    });
}

void apply_blocks(const DecodeJob& of, DeviceView<const std::uint8_t> after, DeviceView<std::uint8_t> reference,
                  const cuda::Stream& stream) {
    using namespace decode_kernels;
    if (of.item_count == 0) return;
    const auto& shape = reference.shape();
    const ApplyJob job{
        of, cuda::KernelImage(after), cuda::KernelImage(reference), {BlockGrid(shape), shape.channels, shape.frames}};
    cuda::Launch(stream, of.item_count, apply_threads)(apply_blocks_kernel, job);
}

}  // namespace framewire::delta
