#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/delta/batch/packing/compare.hpp"
#include "framewire/delta/batch/packing/compared_block.cuh"

#include <cstdint>

// Comparison of a batch with its reference pictures: one thread block per block of 64x64 pixels.
//
//     ComparedBytes   loads the block of `current` and of R, 16 bytes per access
//     warp, block     reduce the errors
//     thread 0        writes off[block], adds to the stream's summary, or lists the block

namespace framewire::delta {
namespace compare_kernels {
namespace {

constexpr int threads_per_block = 256, warps_per_block = threads_per_block / 32;
constexpr int blocks_per_multiprocessor = 4;  // keeps enough loads in flight

struct Job {
    cuda::KernelImage<const std::uint8_t> current, reference;
    BatchBlocks blocks;
    std::uint32_t threshold;
    BlockList list;
    Summary* summaries;
    std::uint32_t* off;
};

template <int channels, bool vectors>
__global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor) compare_kernel(Job job) {
    __shared__ Errors of_warps[warps_per_block];
    const int block = static_cast<int>(blockIdx.x), stream = job.blocks.stream(block);
    const ComparedBlock at{job.current, job.reference, stream, job.blocks.place(block)};
    const ComparedBytes<channels, vectors, threads_per_block> bytes(at);
    const auto errors = bytes.compare(job.threshold).of_warp();
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = errors;
    __syncthreads();
    if (threadIdx.x == 0) {
        Errors sum;
        for (const auto& of : of_warps) sum.add(of);
        auto& summary = job.summaries[stream];
        job.off[block] = sum.count;
        if (sum.count == 0) return sum.add_errors_to(summary);
        atomicAdd(&summary.count, sum.count);
        const auto samples = static_cast<std::uint32_t>(at.place.pixels() * channels);
        // A block in which more than an eighth of the samples changed counts as expensive.
        job.list.add(block, sum.count > samples / 8);
    }
}

}  // namespace
}  // namespace compare_kernels

void compare_blocks(DeviceView<const std::uint8_t> current, DeviceView<const std::uint8_t> reference, int threshold,
                    const BlockList& list, Summary* summaries, std::uint32_t* off, const cuda::Stream& stream) {
    using namespace compare_kernels;
    const auto& shape = current.shape();
    const Job job{cuda::KernelImage(current),
                  cuda::KernelImage(reference),
                  {BlockGrid(shape), shape.channels, shape.frames},
                  static_cast<std::uint32_t>(threshold),
                  list,
                  summaries,
                  off};
    const bool vectors = job.current.aligned_to(compared_bytes) && job.reference.aligned_to(compared_bytes);
    const auto kernel = shape.channels == 1 ? vectors ? compare_kernel<1, true> : compare_kernel<1, false>
                        : vectors ? compare_kernel<3, true>
                                            : compare_kernel<3, false>;
    cuda::Launch(stream, static_cast<unsigned>(job.blocks.count()), threads_per_block)(kernel, job);
}

}  // namespace framewire::delta
