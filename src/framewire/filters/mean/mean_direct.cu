#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/filters/kernel/warp_strips.cuh"
#include "framewire/filters/mean/mean_cuda.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

// Mean with small windows. A warp slides down a strip of the image. Each lane keeps the running sums of its columns,
// two per word, and adds them up along the row together with the nearest ones of its neighbours.

namespace framewire {
namespace mean_direct_kernels {
namespace {

constexpr int warps_per_block = 2;
constexpr int most_blocks = 10;               // per multiprocessor
constexpr int shared_bytes_of_system = 1024;  // that the system reserves per block
constexpr int rows_ahead = 4;                 // rows in flight while one is processed

struct Job : WarpJob {
    std::uint32_t bias, multiplier;  // the mean is the highest byte of the product
};

// Compile-time geometry of a window.
template <int channels, int size>
struct Window {
    // Extent of the window.
    static constexpr int before = size / 2, after = size - 1 - before;
    // Number of words, two sums each, that windows read on either side of a lane's own.
    static constexpr int words_before = (before * channels + 1) / 2, words_after = (after * channels + 1) / 2;
    // Words with the lane's own sums, and all words that its windows read.
    static constexpr int own_words = 2 * WarpStrip<channels>::lane_words;
    static constexpr int words = words_before + own_words + words_after;
    static_assert(before <= WarpStrip<channels>::lane_px && size <= mean_16_bit_size);
};

// Widen two bytes of a word to two 16-bit numbers.
__device__ std::uint32_t low_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4140); }
__device__ std::uint32_t high_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4342); }

// The sums of the columns `element` and `element` + 1, counted from the lane's first word.
template <int count>
__device__ std::uint32_t pair_at(const std::uint32_t (&sums)[count], int element) {
    return element % 2 ? byte_perm(sums[element / 2], sums[element / 2 + 1], 0x5432) : sums[element / 2];
}

// Adds up the window of each of the lane's pixels and divides; two pixels at a time in 16-bit halves.
template <int channels, int size>
__device__ __forceinline__ void mean_of_row(const Job& job,
                                            const std::uint32_t (&columns)[Window<channels, size>::own_words],
                                            std::uint32_t (&result)[WarpStrip<channels>::lane_words]) {
    using W = Window<channels, size>;
    // The lane's column sums and the neighbours' nearest ones.
    std::uint32_t sums[W::words];
#pragma unroll
    for (int word = 0; word < W::own_words; ++word) sums[W::words_before + word] = columns[word];
#pragma unroll
    for (int word = 0; word < W::words_before; ++word)
        sums[word] = __shfl_up_sync(~0u, columns[W::own_words - W::words_before + word], 1);
#pragma unroll
    for (int word = 0; word < W::words_after; ++word)
        sums[W::words_before + W::own_words + word] = __shfl_down_sync(~0u, columns[word], 1);
#pragma unroll
    for (int word = 0; word < WarpStrip<channels>::lane_words; ++word) {
        // Two pairs of means.
        std::uint32_t bytes[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int first = 2 * W::words_before + 4 * word + 2 * half - W::before * channels;
            auto sum = job.bias;
#pragma unroll
            for (int tap = 0; tap < size; ++tap) sum += pair_at(sums, first + tap * channels);
            bytes[half] = byte_perm((sum & 0xffff) * job.multiplier, (sum >> 16) * job.multiplier, 0x73);
        }
        result[word] = byte_perm(bytes[0], bytes[1], 0x5410);
    }
}

// Shared memory of a warp. Rows stay in their slots until they leave the windows, so each is loaded once.
template <int channels, int size>
struct alignas(chunk_bytes) Memory {
    // The rows of a window, and those in flight.
    static constexpr int slots = size + rows_ahead;
    std::uint8_t slot[slots][WarpStrip<channels>::slot_bytes];
    std::uint8_t out[WarpStrip<channels>::out_bytes];
};

// Per row: add the entering row to the column sums, compute a row of results, subtract the leaving row.
template <int channels, int size>
__global__ void __launch_bounds__(32 * warps_per_block, most_blocks) mean_kernel(__grid_constant__ const Job job) {
    using Strip = WarpStrip<channels>;
    using W = Window<channels, size>;
    using M = Memory<channels, size>;
    __shared__ M all_memory[warps_per_block];

    auto& memory = all_memory[threadIdx.x / 32];
    const auto part = WarpPart::of<warps_per_block>(job);
    if (part.y_end == 0) return;
    const int x = part.strip * Strip::out_px, x_end = min(x + Strip::out_px, job.in.width);
    const StagedRows<channels, 32, Strip::slot_bytes, size * channels> rows(
        job.in, job.in_chunks, part.frame, Strip::first_byte(x), x - W::before, x_end + W::after);
    const ResultRows<32, Strip::out_bytes> results(job.out, job.out_chunks, part.frame, x * channels,
                                                   (x_end - x) * channels);
    const int y_first = part.y - W::before, y_last = part.y_end - 1 + W::after;
    const auto next = [](int slot) { return slot + 1 < M::slots ? slot + 1 : 0; };
    int filled = 0;  // the slot that the next row goes to
    const auto fetch = [&](int y) {
        if (y <= y_last) rows.fetch(y, memory.slot[filled]);
        cuda::commit_copies();
        filled = next(filled);
    };
    for (int row = 0; row < rows_ahead; ++row) fetch(y_first + row);

    std::uint32_t columns[W::own_words] = {};
    int entering = 0, leaving = 0;  // slots
    for (int y = y_first; y <= y_last; ++y) {
        cuda::wait_for_copies<rows_ahead - 1>();
        __syncwarp();
        fetch(y + rows_ahead);
        if (rows.has_border()) {
            rows.fill_border(memory.slot[entering]);
            __syncwarp();
        }
        std::uint32_t words[Strip::lane_words];
        Strip::load(memory.slot[entering], words);
        entering = next(entering);
#pragma unroll
        for (int word = 0; word < Strip::lane_words; ++word) {
            columns[2 * word] += low_pair(words[word]);
            columns[2 * word + 1] += high_pair(words[word]);
        }
        if (y < y_first + size - 1) continue;
        std::uint32_t result[Strip::lane_words];
        mean_of_row<channels, size>(job, columns, result);
        // Remove the row that leaves the window.
        Strip::load(memory.slot[leaving], words);
        leaving = next(leaving);
#pragma unroll
        for (int word = 0; word < Strip::lane_words; ++word) {
            columns[2 * word] -= low_pair(words[word]);
            columns[2 * word + 1] -= high_pair(words[word]);
        }
        if (Strip::has_result()) Strip::store(result, memory.out);
        __syncwarp();
        results.store(memory.out, y - W::after);
    }
}

// Plan for the kernel of parameters.size, which is at least `size`.
template <int channels, int size = 1>
FilterOnDevice plan(Job job, const MeanParameters& parameters, const Shape& shape, Executor& executor) {
    if constexpr (size < mean_16_bit_size)
        if (parameters.size != size) return plan<channels, size + 1>(job, parameters, shape, executor);
    constexpr int shared_bytes = warps_per_block * sizeof(Memory<channels, size>);
    const int blocks = std::min(most_blocks, cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) /
                                                 (shared_bytes + shared_bytes_of_system));
    const int strips = cuda::parts(shape.width, WarpStrip<channels>::out_px);
    settle_warps<warps_per_block>(job, shape, parameters.border, strips, std::max(blocks, 1), 1, size - 1);
    return [job, &executor](const FilterImages<MemorySpace::device>& images) {
        launch_warps<warps_per_block>(job, images, [&](const Job& part, dim3 grid) {
            cuda::Launch(executor.stream(), grid, 32 * warps_per_block)(mean_kernel<channels, size>, part);
        });
    };
}

}  // namespace
}  // namespace mean_direct_kernels

// The bias is added to both halves of a word; the shift of the multiplier moves the mean to the highest byte.
FilterOnDevice mean_by_addition(const MeanParameters& parameters, const Shape& shape, Executor& executor) {
    using namespace mean_direct_kernels;
    const auto division = mean_division(parameters.size, 16);
    Job job{};
    job.bias = division.bias * 0x10001u;
    job.multiplier = division.multiplier << (24 - division.shift);
    return shape.channels == 3 ? plan<3>(job, parameters, shape, executor) : plan<1>(job, parameters, shape, executor);
}

}  // namespace framewire
