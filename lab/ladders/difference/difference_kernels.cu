#include "framewire/cuda/kernel.cuh"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/pictures/chunk_loop.cuh"

// As in the report, one block does all the work, and each of its threads processes consecutive bytes: contrary to the
// report, these reads are not coalesced, because neighbouring threads read far from each other.

namespace framewire::bench {
namespace {

// Returns the next free place. Counts with atomicInc(), one by one as in the report, because the compiler would merge
// the atomic additions of a warp.
__device__ std::uint32_t next_place(std::uint32_t* count) { return atomicInc(count, 0xFFFFFFFFu); }

__device__ void compare_bytes(const DifferenceBuffers& at, int bytes, int bytes_each) {
    const int begin = static_cast<int>(threadIdx.x) * bytes_each;
    const int end =
        min(begin + bytes_each, bytes);  // the report omits the remainder of the division by the number of threads
    for (int i = begin; i < end; ++i) {
        const int difference = at.current[i] - at.previous[i];
        if (difference < -ladder_threshold || difference > ladder_threshold) {
            const auto place = next_place(at.count);
            at.differences[place] = static_cast<std::uint8_t>(difference);
            at.positions[place] = static_cast<std::uint32_t>(i);
        } else {
            at.current[i] = static_cast<std::uint8_t>(at.current[i] - difference);
        }
    }
}

// In the report the ranges of threads overlap by less than a chunk. Changes there are then reported twice, and feedback
// is applied twice if both threads read before one of them writes. Here each chunk belongs to one thread.
template <class Chunk, bool one_write>
__device__ void compare_chunks(const DifferenceBuffers& at, std::uint32_t* count, int chunks, int chunks_each) {
    constexpr int size = sizeof(Chunk);
    const int begin = static_cast<int>(threadIdx.x) * chunks_each;
    const int end = min(begin + chunks_each, chunks);
    for (int i = begin; i < end; ++i) {
        auto now = reinterpret_cast<const Chunk*>(at.current)[i];
        const auto before = reinterpret_cast<const Chunk*>(at.previous)[i];
        auto* now_bytes = reinterpret_cast<std::uint8_t*>(&now);
        const auto* before_bytes = reinterpret_cast<const std::uint8_t*>(&before);
        bool is_changed = false;
#pragma unroll
        for (int j = 0; j < size; ++j) {
            const int difference = now_bytes[j] - before_bytes[j];
            if (difference < -ladder_threshold || difference > ladder_threshold) {
                const auto place = next_place(count);
                at.differences[place] = static_cast<std::uint8_t>(difference);
                at.positions[place] = static_cast<std::uint32_t>(i * size + j);
            } else if constexpr (one_write) {
                now_bytes[j] = static_cast<std::uint8_t>(now_bytes[j] - difference);
                is_changed = true;
            } else {
                auto& byte = at.current[i * size + j];
                byte = static_cast<std::uint8_t>(byte - difference);
            }
        }
        if (is_changed) reinterpret_cast<Chunk*>(at.current)[i] = now;
    }
}

// Resets the counter. Correct for a single block only: threads of other blocks would not wait for it.
__device__ void reset(std::uint32_t* count) {
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
}

__global__ void __launch_bounds__(1024) difference_bytes(DifferenceBuffers at, int bytes, int bytes_each) {
    compare_bytes(at, bytes, bytes_each);
}

__global__ void __launch_bounds__(1024) difference_bytes_own_reset(DifferenceBuffers at, int bytes, int bytes_each) {
    reset(at.count);
    compare_bytes(at, bytes, bytes_each);
}

__global__ void __launch_bounds__(1024) difference_chunks_4(DifferenceBuffers at, int chunks, int chunks_each) {
    reset(at.count);
    compare_chunks<int, false>(at, at.count, chunks, chunks_each);
}

__global__ void __launch_bounds__(1024)
    difference_chunks_4_one_write(DifferenceBuffers at, int chunks, int chunks_each) {
    reset(at.count);
    compare_chunks<int, true>(at, at.count, chunks, chunks_each);
}

__global__ void __launch_bounds__(1024) difference_chunks_16(DifferenceBuffers at, int chunks, int chunks_each) {
    reset(at.count);
    compare_chunks<int4, true>(at, at.count, chunks, chunks_each);
}

__global__ void __launch_bounds__(1024) difference_chunks_32(DifferenceBuffers at, int chunks, int chunks_each) {
    reset(at.count);
    compare_chunks<Chunk32, true>(at, at.count, chunks, chunks_each);
}

__global__ void __launch_bounds__(1024)
    difference_chunks_32_shared_count(DifferenceBuffers at, int chunks, int chunks_each) {
    __shared__ std::uint32_t count;
    reset(&count);
    compare_chunks<Chunk32, true>(at, &count, chunks, chunks_each);
    __syncthreads();
    if (threadIdx.x == 0) *at.count = count;
}

struct Choice {
    void (*kernel)(DifferenceBuffers, int, int);
    int chunk;
};

Choice choice_of(DifferenceKernel kernel) {
    switch (kernel) {
        case DifferenceKernel::bytes: return {difference_bytes, 1};
        case DifferenceKernel::bytes_own_reset: return {difference_bytes_own_reset, 1};
        case DifferenceKernel::chunks_4: return {difference_chunks_4, 4};
        case DifferenceKernel::chunks_4_one_write: return {difference_chunks_4_one_write, 4};
        case DifferenceKernel::chunks_16: return {difference_chunks_16, 16};
        case DifferenceKernel::chunks_32: return {difference_chunks_32, 32};
        case DifferenceKernel::chunks_32_shared_count: break;
    }
    return {difference_chunks_32_shared_count, 32};
}

}  // namespace

void launch_difference(DifferenceKernel kernel, const DifferenceBuffers& buffers, std::int64_t bytes, int threads,
                       const cuda::Stream& stream) {
    const auto choice = choice_of(kernel);
    const int chunks = static_cast<int>(bytes / choice.chunk);
    const int chunks_each = (chunks + threads - 1) / threads;
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(choice.kernel, buffers, chunks, chunks_each);
}

}  // namespace framewire::bench
