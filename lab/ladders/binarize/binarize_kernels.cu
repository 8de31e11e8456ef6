#include "framewire/core/error.hpp"
#include "framewire/cuda/kernel.cuh"
#include "ladders/binarize/binarize_kernels.hpp"
#include "ladders/pictures/chunk_loop.cuh"

namespace framewire::bench {
namespace {

constexpr int bins = 256;

__device__ std::int64_t thread_of_grid() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// An earlier launch clears the bins: the report's kernel clears them itself, and no block waits for the one that does.
// Each thread processes whole pixels; with ranges of bytes, some pixels would count twice and others not at all.
__global__ void histogram_global_atomics(const std::uint8_t* gray, std::int64_t pixels, int pixels_each,
                                         std::uint32_t* histogram) {
    const auto begin = thread_of_grid() * pixels_each;
    const auto end = min(begin + pixels_each, pixels);
    for (auto pixel = begin; pixel < end; ++pixel) atomicAdd(histogram + gray[3 * pixel], 1u);
}

// Every block clears its own bins and adds them to the total; in the report only the first 256 threads of the grid do.
__global__ void histogram_shared_atomics(const std::uint8_t* gray, std::int64_t pixels, int pixels_each,
                                         std::uint32_t* histogram) {
    __shared__ std::uint32_t shared[bins];
    for (auto bin = threadIdx.x; bin < bins; bin += blockDim.x) shared[bin] = 0;
    __syncthreads();
    const auto begin = thread_of_grid() * pixels_each;
    const auto end = min(begin + pixels_each, pixels);
    for (auto pixel = begin; pixel < end; ++pixel) atomicAdd(shared + gray[3 * pixel], 1u);
    __syncthreads();
    for (auto bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (shared[bin]) atomicAdd(histogram + bin, shared[bin]);
}

// Returns the sort key of a bin: among equal counts, the darker bin ranks higher.
__device__ std::uint64_t ranked(std::uint32_t count, unsigned bin) {
    return std::uint64_t{count} << 8 | (bins - 1 - bin);
}
__device__ int bin_of(std::uint64_t rank) { return bins - 1 - static_cast<int>(rank & 255u); }

// The report halves the bins down to two, which are the fullest even bin and the fullest odd bin. Here each step merges
// the two fullest bins of two parts.
__global__ void two_max_reduction(const std::uint32_t* histogram, std::uint8_t* threshold) {
    __shared__ std::uint64_t first[bins], second[bins];
    const auto thread = threadIdx.x;
    first[thread] = ranked(histogram[thread], thread);
    second[thread] = 0;
    __syncthreads();
    for (unsigned offset = bins / 2; offset > 0; offset >>= 1) {
        if (thread < offset) {
            const auto other = first[thread + offset];
            const auto lesser = min(first[thread], other);
            first[thread] = max(first[thread], other);
            second[thread] = max(lesser, max(second[thread], second[thread + offset]));
        }
        __syncthreads();
    }
    if (thread == 0)
        *threshold = static_cast<std::uint8_t>(min(max((bin_of(first[0]) + bin_of(second[0])) / 2, 50), 200));
}

__device__ std::uint8_t black_or_white(std::uint8_t gray, std::uint8_t threshold) { return gray > threshold ? 255 : 0; }

__global__ void binarize_bytes(const std::uint8_t* gray, std::uint8_t* out, std::int64_t bytes, int bytes_each,
                               const std::uint8_t* threshold) {
    const auto begin = thread_of_grid() * bytes_each;
    const auto end = min(begin + bytes_each, bytes);
    for (auto i = begin; i < end; ++i) out[i] = black_or_white(gray[i], *threshold);
}

// Binarizes chunks. The report's kernel also reads the previous content of the result chunk, which is omitted here.
template <class Chunk>
__global__ void binarize_chunks(const std::uint8_t* gray, std::uint8_t* out, std::int64_t chunks, int chunks_each,
                                const std::uint8_t* threshold) {
    const auto begin = thread_of_grid() * chunks_each;
    const auto end = min(begin + chunks_each, chunks);
    const auto level = *threshold;
    for (auto i = begin; i < end; ++i) {
        Chunk chunk = reinterpret_cast<const Chunk*>(gray)[i];
        auto* bytes = reinterpret_cast<std::uint8_t*>(&chunk);
#pragma unroll
        for (int j = 0; j < static_cast<int>(sizeof(Chunk)); ++j) bytes[j] = black_or_white(bytes[j], level);
        reinterpret_cast<Chunk*>(out)[i] = chunk;
    }
}

int each(std::int64_t whole, LadderGrid grid) {
    return static_cast<int>(cuda::parts(whole, std::int64_t{grid.blocks} * grid.threads));
}

template <class Chunk>
void launch(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream) {
    const auto chunks = cuda::parts(3 * job.pixels, static_cast<std::int64_t>(sizeof(Chunk)));
    cuda::Launch(stream, static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads))(
        binarize_chunks<Chunk>, job.gray, job.out, chunks, each(chunks, grid), job.threshold);
}

}  // namespace

void histogram_in_global_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream) {
    cuda::Launch(stream, static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads))(
        histogram_global_atomics, job.gray, job.pixels, each(job.pixels, grid), job.histogram);
}

void histogram_in_shared_memory(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream) {
    cuda::Launch(stream, static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads))(
        histogram_shared_atomics, job.gray, job.pixels, each(job.pixels, grid), job.histogram);
}

void two_max_by_reduction(const BinarizeJob& job, const cuda::Stream& stream) {
    cuda::Launch(stream, 1, bins)(two_max_reduction, job.histogram, job.threshold);
}

void binarize_by_bytes(const BinarizeJob& job, LadderGrid grid, const cuda::Stream& stream) {
    cuda::Launch(stream, static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads))(
        binarize_bytes, job.gray, job.out, 3 * job.pixels, each(3 * job.pixels, grid), job.threshold);
}

void binarize_by_chunks(const BinarizeJob& job, int chunk_bytes, LadderGrid grid, const cuda::Stream& stream) {
    switch (chunk_bytes) {
        case 4: launch<std::uint32_t>(job, grid, stream); break;
        case 16: launch<uint4>(job, grid, stream); break;
        case 32: launch<Chunk32>(job, grid, stream); break;
        default: fail(ErrorCode::internal, "binarize supports chunks of 4, 16 or 32 bytes");
    }
}

}  // namespace framewire::bench
