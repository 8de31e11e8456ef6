#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/packing/assemble.hpp"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <cstdint>

// Two launches: where each stream's blocks go and where each frame begins, and the copies.

namespace framewire::delta {
namespace assemble_kernels {
namespace {

constexpr int copy_threads = 128, copied_at_once = 4;
constexpr int layout_threads = 512, layout_warps = layout_threads / 32;

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

/// What the blocks up to one take: of the directory, and their own bytes.
struct Taken {
    unsigned long long contents = 0;
    std::uint32_t directory = 0, padding = 0;

    __device__ Taken operator+(const Taken& other) const {
        return {contents + other.contents, directory + other.directory, 0};
    }
    __device__ Taken operator-(const Taken& other) const {
        return {contents - other.contents, directory - other.directory, 0};
    }
};

struct LayoutMemory {
    cuda::BlockScan<Taken, layout_warps> taken;
    cuda::BlockScan<unsigned long long, layout_warps> frames;
    int next[layout_warps];  // behind the last coded block of a warp's, 0 without
    bool last;
};

// Finds where the blocks of a stream go, writes that where it is wanted, and returns how long the frame is. By all
// threads.
__device__ unsigned long long lay_out(const Job& job, const CodedBlocks& coded, int stream, bool write,
                                      LayoutMemory& memory) {
    const int count = job.blocks.grid.count(), first = stream * count;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    Taken before{0, PackedHead::bytes, 0};
    int next = 0;  // behind the last coded block so far
    for (int begin = 0; begin < count; begin += layout_threads) {
        const int block = begin + static_cast<int>(threadIdx.x);
        const auto size = block < count ? coded.sizes[first + block] : 0u;
        const auto coded_lanes = __ballot_sync(~0u, size > 0);
        const auto behind = [&](std::uint32_t lanes) { return block - lane + 32 - __clz(static_cast<int>(lanes)); };
        __syncthreads();
        if (lane == 0) memory.next[warp] = coded_lanes ? behind(coded_lanes) : 0;
        __syncthreads();
        int after_last = next;
#pragma unroll
        for (int i = 0; i < layout_warps; ++i) {
            if (i < warp) after_last = max(after_last, memory.next[i]);
            next = max(next, memory.next[i]);
        }
        if (const auto lanes = coded_lanes & ((1u << lane) - 1)) after_last = behind(lanes);
        std::uint32_t told = 0, told_passed = 0;
        if (size) {
            told_passed = passed_over(block - after_last);
            told = static_cast<std::uint32_t>(number_bytes(size) + (told_passed ? number_bytes(told_passed) : 0));
        }
        const auto in_warp = memory.taken.begin({size, told, 0});
        __syncthreads();
        const auto sums = memory.taken.end(in_warp);
        const auto own = before + sums.before;
        if (write && block < count) job.to.places[first + block] = {own.directory, told_passed, own.contents};
        before = before + sums.total;
    }
    if (const auto passed = passed_over(count - next)) {
        __syncthreads();
        if (write && threadIdx.x == 0) job.to.places[first + count - 1].passed = passed;
        before.directory += static_cast<std::uint32_t>(number_bytes(passed));
    }
    if (write && threadIdx.x == 0) job.to.headings[stream] = before.directory;
    return before.directory + before.contents;
}

// Where each frame begins, from how long each is. By all threads.
__device__ void add_up(volatile unsigned long long* begins, int streams, LayoutMemory& memory) {
    unsigned long long before = 0;
    for (int first = 0; first < streams; first += layout_threads) {
        const int stream = first + static_cast<int>(threadIdx.x);
        const auto own = stream < streams ? begins[stream + 1] : 0ull;
        __syncthreads();
        const auto in_warp = memory.frames.begin(own);
        __syncthreads();
        const auto sums = memory.frames.end(in_warp);
        if (stream < streams) begins[stream + 1] = before + sums.before + own;
        before += sums.total;
    }
}

// A thread block for each stream. The one that is done last, as the number at the beginning of `begins` tells, adds up
// how long the frames are.
__global__ void __launch_bounds__(layout_threads) layout_kernel(Job job) {
    __shared__ LayoutMemory memory;
    const int stream = static_cast<int>(blockIdx.x);
    int chosen = 0;
    if (job.choices[1].coded.sizes) {
        const auto near = lay_out(job, job.choices[0].coded, stream, false, memory);
        chosen = !takes_near_picture(near, lay_out(job, job.choices[1].coded, stream, false, memory));
    }
    const auto bytes = lay_out(job, chosen ? job.choices[1].coded : job.choices[0].coded, stream, true, memory);
    if (threadIdx.x == 0) {
        job.to.begins[stream + 1] = bytes;
        job.to.chosen[stream] = static_cast<std::uint8_t>(chosen);
        __threadfence();
        memory.last = atomicAdd(&job.to.begins[0], 1ull) + 1 == static_cast<unsigned long long>(job.blocks.streams);
        __threadfence();
    }
    __syncthreads();
    if (!memory.last) return;
    add_up(job.to.begins, job.blocks.streams, memory);
    if (threadIdx.x == 0) job.to.begins[0] = 0;
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
    // Some words are read before the first one is written, so that reads do not wait for each other.
    constexpr int read_ahead = 4;
    for (auto first = threadIdx.x; first < size / 4; first += copy_threads * read_ahead) {
        std::uint32_t read[read_ahead];
#pragma unroll
        for (int j = 0; j < read_ahead; ++j)
            if (const auto i = first + j * copy_threads; i < size / 4)
                read[j] = misplaced ? __funnelshift_r(words[i], words[i + 1], 8 * misplaced) : words[i];
#pragma unroll
        for (int j = 0; j < read_ahead; ++j)
            if (const auto i = first + j * copy_threads; i < size / 4)
                reinterpret_cast<std::uint32_t*>(to)[i] = read[j];
    }
    const auto left = size % 4;
    if (threadIdx.x < left) to[size - left + threadIdx.x] = from[size - left + threadIdx.x];
}

// A thread block writes some blocks, and what the directory says of them.
__global__ void __launch_bounds__(copy_threads) copy_kernel(Job job) {
    const int first = static_cast<int>(blockIdx.x) * copied_at_once;
    struct Copy {
        std::uint8_t* frame;
        FramePlace place;
        std::uint32_t heading, size;
        bool chosen;
    } copies[copied_at_once];  // all is read first, so that reads do not wait for each other
#pragma unroll
    for (int i = 0; i < copied_at_once; ++i) {
        const int block = min(first + i, job.blocks.count() - 1), stream = job.blocks.stream(block);
        const bool chosen = job.to.chosen[stream];
        copies[i] = {job.to.bytes + job.to.begins[stream], job.to.places[block], job.to.headings[stream],
                     job.choices[0].coded.sizes[block], chosen};
        if (chosen) copies[i].size = job.choices[1].coded.sizes[block];
    }
#pragma unroll
    for (int i = 0; i < copied_at_once; ++i) {
        const int block = first + i;
        if (block >= job.blocks.count()) return;
        const auto& [frame, place, heading, size, chosen] = copies[i];
        if (threadIdx.x == 0) {
            if (block % job.blocks.grid.count() == 0) {
                frame[0] = chosen ? job.choices[1].kind : job.choices[0].kind;
                frame[1] = chosen ? job.choices[1].threshold : job.choices[0].threshold;
            }
            auto* to = frame + place.directory;
            if (place.passed) to = put_number(to, place.passed);
            if (size) put_number(to, size);
        }
        if (size) {
            const auto* const end =
                chosen ? job.choices[1].coded.slot_end(block) : job.choices[0].coded.slot_end(block);
            copy_bytes(end - size, size, frame + heading + place.contents);
        }
    }
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
    cuda::Launch(stream, static_cast<unsigned>(blocks.streams), layout_threads)(layout_kernel, job);
    cuda::Launch(stream, cuda::blocks(blocks.count(), copied_at_once), copy_threads)(copy_kernel, job);
}

}  // namespace framewire::delta
