#include "framewire/delta/shared/landing.hpp"

#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/delta/comparing/encoder_layout.hpp"

#include <algorithm>
#include <cstdint>

// The GPU writes into the host's pinned memory itself: as many changes as there are, of all streams, by one launch in
// place of three copies for each stream, which have to guess how many there will be.

namespace framewire::delta {
namespace landing_kernels {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr unsigned blocks_per_stream = 8;

struct Job {
    Landing streams[cuda_streams_per_launch];
};
static_assert(sizeof(Job) <= 4096, "arguments of a kernel");

// By all blocks of one stream together.
__device__ void copy_bytes(const void* from, void* to, std::int64_t bytes) {
    const auto first = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    constexpr auto threads = std::int64_t{blocks_per_stream} * threads_per_block;
    std::int64_t copied = 0;
    if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % sizeof(uint4) == 0) {
        const auto groups = bytes / static_cast<std::int64_t>(sizeof(uint4));
        for (auto i = first; i < groups; i += threads) static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
        copied = groups * static_cast<std::int64_t>(sizeof(uint4));
    }
    for (auto i = copied + first; i < bytes; i += threads)
        static_cast<std::uint8_t*>(to)[i] = static_cast<const std::uint8_t*>(from)[i];
}

__global__ void __launch_bounds__(threads_per_block) land_kernel(const __grid_constant__ Job job) {
    const auto& [from, to] = job.streams[blockIdx.y];
    const auto summary = *from.summaries;
    const auto count = min(std::int64_t{summary.count}, to.capacity);
    copy_bytes(from.positions, to.positions, count * static_cast<std::int64_t>(sizeof(std::uint32_t)));
    copy_bytes(from.differences, to.differences, count);
    if (blockIdx.x == 0 && threadIdx.x == 0) *to.summaries = summary;
}

}  // namespace
}  // namespace landing_kernels

void queue_landing(std::span<const Landing> streams, const cuda::Stream& stream) {
    using namespace landing_kernels;
    Job job;
    std::ranges::copy(streams, job.streams);
    const dim3 grid(blocks_per_stream, static_cast<unsigned>(streams.size()));
    cuda::Launch(stream, grid, threads_per_block)(land_kernel, job);
}

}  // namespace framewire::delta
