#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/packing/compare.hpp"

#include <cstdint>

// A thread block compares one block of 64x64 pixels with the reference. Its bytes are read once, 16 at a time where
// rows allow it.

namespace framewire::delta {
namespace compare_kernels {
namespace {

constexpr int threads_per_block = 256, warps_per_block = threads_per_block / 32;
constexpr int group_bytes = 16;

struct Job {
    cuda::KernelImage<const std::uint8_t> current;
    cuda::KernelImage<std::uint8_t> reference;
    BatchBlocks blocks;
    std::uint32_t threshold;
    BlockList list;
    std::uint8_t* differences;
    Summary* summaries;
    std::uint32_t* off;
};

__device__ uint4 load_group(const std::uint8_t* row, int at, int bytes, bool whole) {
    if (whole) return *reinterpret_cast<const uint4*>(row + at);
    std::uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < group_bytes; ++i)
        if (at + i < bytes) words[i / 4] |= std::uint32_t{row[at + i]} << (i % 4 * 8);
    return {words[0], words[1], words[2], words[3]};
}

__device__ void store_group(std::uint8_t* row, int at, int bytes, bool whole, const uint4& group) {
    if (whole) {
        *reinterpret_cast<uint4*>(row + at) = group;
        return;
    }
    const std::uint32_t words[4] = {group.x, group.y, group.z, group.w};
#pragma unroll
    for (int i = 0; i < group_bytes; ++i)
        if (at + i < bytes) row[at + i] = static_cast<std::uint8_t>(words[i / 4] >> (i % 4 * 8));
}

struct Errors {
    std::uint32_t count = 0, largest = 0, squared = 0;
};

template <int channels, bool vectors>
__global__ void __launch_bounds__(threads_per_block) compare_kernel(Job job) {
    constexpr int groups_per_row = block_side * channels / group_bytes;
    constexpr int groups_each = groups_per_row * block_side / threads_per_block;
    __shared__ Errors of_warps[warps_per_block];
    __shared__ std::uint32_t slot;

    const int block = static_cast<int>(blockIdx.x), stream = job.blocks.stream(block);
    const auto place = job.blocks.place(block);
    const int row_bytes = place.width * channels;
    const auto limit = job.threshold * 0x01010101u;

    uint4 now[groups_each], held[groups_each];  // once compared, `now` becomes the differences
    const auto y_of = [&](int i) { return static_cast<int>(threadIdx.x + i * threads_per_block) / groups_per_row; };
    const auto at_of = [&](int i) {
        return static_cast<int>(threadIdx.x + i * threads_per_block) % groups_per_row * group_bytes;
    };
    const auto is_inside = [&](int i) { return y_of(i) < place.height && at_of(i) < row_bytes; };
    const auto is_whole = [&](int i) { return vectors && at_of(i) + group_bytes <= row_bytes; };
#pragma unroll
    for (int i = 0; i < groups_each; ++i) {
        now[i] = held[i] = uint4{};
        if (!is_inside(i)) continue;
        const auto from = std::int64_t{place.x} * channels;
        now[i] = load_group(job.current.row(stream, place.y + y_of(i)) + from, at_of(i), row_bytes, is_whole(i));
        held[i] = load_group(job.reference.row(stream, place.y + y_of(i)) + from, at_of(i), row_bytes, is_whole(i));
    }

    Errors errors;  // that are left
#pragma unroll
    for (int i = 0; i < groups_each; ++i) {
        std::uint32_t any = 0;
        const auto compare = [&](std::uint32_t& now_word, std::uint32_t& held_word) {
            const auto distance = __vabsdiffu4(now_word, held_word);
            const auto mask = __vcmpgtu4(distance, limit);
            const auto error = distance & ~mask;
            errors.count += __popc(mask) / 8;
            errors.squared = __dp4a(error, error, errors.squared);
            errors.largest = __vmaxu4(errors.largest, error);
            any |= mask;
            const auto merged = (now_word & mask) | (held_word & ~mask);
            now_word = __vsub4(now_word, held_word) & mask;
            held_word = merged;
        };
        compare(now[i].x, held[i].x);
        compare(now[i].y, held[i].y);
        compare(now[i].z, held[i].z);
        compare(now[i].w, held[i].w);
        if (any && job.differences)
            store_group(job.reference.row(stream, place.y + y_of(i)) + std::int64_t{place.x} * channels, at_of(i),
                        row_bytes, is_whole(i), held[i]);
    }

    const auto lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto pairs = __vmaxu2(errors.largest & 0x00FF00FFu, errors.largest >> 8 & 0x00FF00FFu);
    errors.largest = cuda::warp_max(max(pairs & 0xFFFFu, pairs >> 16));
    errors.count = cuda::warp_sum(errors.count);
    errors.squared = cuda::warp_sum(errors.squared);  // of a block at most 12288 * 254^2: fits
    if (lane == 0) of_warps[warp] = errors;
    __syncthreads();
    if (threadIdx.x == 0) {
        Errors sum;
        for (const auto& of : of_warps) {
            sum.count += of.count;
            sum.largest = max(sum.largest, of.largest);
            sum.squared += of.squared;
        }
        auto& summary = job.summaries[stream];
        if (sum.count) atomicAdd(&summary.count, sum.count);
        if (job.off) job.off[block] = sum.count;
        if (job.differences || sum.count == 0) {
            if (sum.largest) atomicMax(&summary.max_error, sum.largest);
            static_assert(sizeof(summary.squared_error) == sizeof(unsigned long long));
            if (sum.squared)
                atomicAdd(reinterpret_cast<unsigned long long*>(&summary.squared_error),
                          static_cast<unsigned long long>(sum.squared));
        }
        const auto samples = static_cast<std::uint32_t>(place.pixels() * channels);
        slot = sum.count ? job.list.add(block, sum.count > samples / 8) : ~0u;
    }
    if (!job.differences) return;
    __syncthreads();
    if (slot == ~0u) return;
    auto* const to = reinterpret_cast<uint4*>(job.differences + slot * block_slot_bytes(channels));
#pragma unroll
    for (int i = 0; i < groups_each; ++i) to[threadIdx.x + i * threads_per_block] = now[i];
}

}  // namespace
}  // namespace compare_kernels

void compare_blocks(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference, int threshold,
                    const BlockList& list, std::uint8_t* differences, Summary* summaries, std::uint32_t* off,
                    const cuda::Stream& stream) {
    using namespace compare_kernels;
    const auto& shape = current.shape();
    const Job job{cuda::KernelImage(current),
                  cuda::KernelImage(reference),
                  {BlockGrid(shape), shape.channels, shape.frames},
                  static_cast<std::uint32_t>(threshold),
                  list,
                  differences,
                  summaries,
                  off};
    const bool vectors = job.current.aligned_to(group_bytes) && job.reference.aligned_to(group_bytes);
    const auto kernel = shape.channels == 1 ? vectors ? compare_kernel<1, true> : compare_kernel<1, false>
                        : vectors ? compare_kernel<3, true>
                                            : compare_kernel<3, false>;
    kernel<<<static_cast<unsigned>(job.blocks.count()), threads_per_block, 0, stream.handle()>>>(job);
    cuda::check_launch();
}

}  // namespace framewire::delta
