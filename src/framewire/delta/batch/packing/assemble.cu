#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/packing/assemble.hpp"
#include "framewire/delta/prediction/step_sizes.hpp"

#include <cstdint>

// Three launches: how long each stream's frame is and where its blocks go, where each frame begins, and the copies.

namespace framewire::delta {
namespace assemble_kernels {
namespace {

constexpr int copy_threads = 128;
constexpr int scan_threads = 1024;

struct Choice {
    CodedBlocks coded;
    std::uint8_t kind, threshold;
};

struct Job {
    BatchBlocks blocks;
    Choice choices[2];  // the second one may have no blocks
    PackedFrames to;
};

__device__ int number_bytes(std::uint32_t number) {
    return 1 + (number >= 1u << 7) + (number >= 1u << 14) + (number >= 1u << 21);
}
__device__ std::uint8_t* put_number(std::uint8_t* to, std::uint32_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::uint8_t>(number | 0x80);
    *to++ = static_cast<std::uint8_t>(number);
    return to;
}
/// What tells that blocks are passed over; 0 is nothing to tell.
__device__ std::uint32_t passed_over(int blocks) { return blocks > 0 ? static_cast<std::uint32_t>(blocks) * 2 - 1 : 0; }

// Finds where the blocks of a stream go, writes that where it is wanted, and returns how long the frame is. By a warp.
__device__ unsigned long long lay_out(const Job& job, const CodedBlocks& coded, int stream, bool write) {
    const int count = job.blocks.grid.count(), first = stream * count, lane = static_cast<int>(threadIdx.x);
    std::uint32_t directory = PackedHead::bytes;
    unsigned long long contents = 0;
    int next = 0;  // behind the last coded block so far
    for (int begin = 0; begin < count; begin += 32) {
        const int block = begin + lane;
        const auto size = block < count ? coded.sizes[first + block] : 0u;
        const auto has_size = __ballot_sync(~0u, size > 0);
        const auto before = has_size & ((1u << lane) - 1);
        const int after_last = before ? begin + 32 - __clz(static_cast<int>(before)) : next;
        std::uint32_t told = 0, told_passed = 0;
        if (size) {
            told_passed = passed_over(block - after_last);
            told = static_cast<std::uint32_t>(number_bytes(size) + (told_passed ? number_bytes(told_passed) : 0));
        }
        const auto told_up_to = cuda::inclusive_warp_sum(told), bytes_up_to = cuda::inclusive_warp_sum(size);
        if (write && block < count)
            job.to.places[first + block] = {directory + told_up_to - told, told_passed, contents + bytes_up_to - size};
        directory += __shfl_sync(~0u, told_up_to, 31);
        contents += __shfl_sync(~0u, bytes_up_to, 31);
        if (has_size) next = begin + 32 - __clz(static_cast<int>(has_size));
    }
    if (const auto passed = passed_over(count - next)) {
        __syncwarp();
        if (write && lane == 0) job.to.places[first + count - 1].passed = passed;
        directory += static_cast<std::uint32_t>(number_bytes(passed));
    }
    if (write && lane == 0) job.to.headings[stream] = directory;
    return directory + contents;
}

// A warp for each stream.
__global__ void __launch_bounds__(32) layout_kernel(Job job) {
    const int stream = static_cast<int>(blockIdx.x);
    int chosen = 0;
    if (job.choices[1].coded.sizes) {
        const auto near = lay_out(job, job.choices[0].coded, stream, false);
        chosen = !takes_near_picture(near, lay_out(job, job.choices[1].coded, stream, false));
    }
    const auto bytes = lay_out(job, job.choices[chosen].coded, stream, true);
    if (threadIdx.x > 0) return;
    job.to.begins[stream + 1] = bytes;  // begins_kernel makes places of that
    job.to.chosen[stream] = static_cast<std::uint8_t>(chosen);
}

// Where each frame begins, from how long each is.
__global__ void __launch_bounds__(scan_threads) begins_kernel(unsigned long long* begins, int streams) {
    __shared__ cuda::BlockScan<unsigned long long, scan_threads / 32> scan;
    unsigned long long before = 0;
    for (int first = 0; first < streams; first += scan_threads) {
        const int stream = first + static_cast<int>(threadIdx.x);
        const auto own = stream < streams ? begins[stream + 1] : 0ull;
        const auto in_warp = scan.begin(own);
        __syncthreads();
        const auto sums = scan.end(in_warp);
        if (stream < streams) begins[stream + 1] = before + sums.before + own;
        before += sums.total;
        __syncthreads();
    }
    if (threadIdx.x == 0) begins[0] = 0;
}

// Copies by a thread block, four bytes at a time. `from` is even, and some bytes behind it may be read.
__device__ void copy_bytes(const std::uint8_t* from, std::uint32_t size, std::uint8_t* to) {
    const auto before = min(size, static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) & 3u));
    if (threadIdx.x < before) to[threadIdx.x] = from[threadIdx.x];
    from += before;
    to += before;
    size -= before;
    const auto misplaced = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) & 3u);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from - misplaced);
    for (auto i = threadIdx.x; i < size / 4; i += copy_threads)
        reinterpret_cast<std::uint32_t*>(to)[i] =
            misplaced ? __funnelshift_r(words[i], words[i + 1], 8 * misplaced) : words[i];
    const auto left = size % 4;
    if (threadIdx.x < left) to[size - left + threadIdx.x] = from[size - left + threadIdx.x];
}

// A thread block writes one block, and what the directory says of it.
__global__ void __launch_bounds__(copy_threads) copy_kernel(Job job) {
    const int block = static_cast<int>(blockIdx.x), stream = job.blocks.stream(block);
    const int number = block - stream * job.blocks.grid.count();
    auto* const frame = job.to.bytes + job.to.begins[stream];
    const auto& choice = job.choices[job.to.chosen[stream]];
    const auto size = choice.coded.sizes[block];
    const auto place = job.to.places[block];
    if (threadIdx.x == 0) {
        if (number == 0) {
            frame[0] = choice.kind;
            frame[1] = choice.threshold;
        }
        auto* to = frame + place.directory;
        if (place.passed) to = put_number(to, place.passed);
        if (size) put_number(to, size);
    }
    if (size) copy_bytes(choice.coded.slot_end(block) - size, size, frame + job.to.headings[stream] + place.contents);
}

}  // namespace
}  // namespace assemble_kernels

void assemble_frames(const BatchBlocks& blocks, const CodedFrames& near, const CodedFrames* without_loss,
                     const PackedFrames& to, const cuda::Stream& stream) {
    using namespace assemble_kernels;
    const auto choice = [](const CodedFrames& of) {
        return Choice{of.blocks, static_cast<std::uint8_t>(of.head.kind), static_cast<std::uint8_t>(of.head.threshold)};
    };
    const Job job{blocks, {choice(near), without_loss ? choice(*without_loss) : Choice{}}, to};
    layout_kernel<<<static_cast<unsigned>(blocks.streams), 32, 0, stream.handle()>>>(job);
    cuda::check_launch();
    begins_kernel<<<1, scan_threads, 0, stream.handle()>>>(to.begins, blocks.streams);
    cuda::check_launch();
    copy_kernel<<<static_cast<unsigned>(blocks.count()), copy_threads, 0, stream.handle()>>>(job);
    cuda::check_launch();
}

}  // namespace framewire::delta
