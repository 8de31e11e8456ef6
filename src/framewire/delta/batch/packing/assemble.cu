#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/packing/assemble.hpp"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <cstdint>

// Joins coded blocks to packed frames in two launches, because the place of a block depends on the sizes of all before
// it.
//
//     layout_kernel   one thread block per stream     sizes of all blocks -> places, headings;
//                                                     the last thread block: sizes of all frames -> begins
//     copy_kernel     one thread block per 4 blocks   places, begins, slots -> head, directory entries, bytes

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

// Returns how many bytes a directory number takes, 7 bits in each.
__device__ int number_bytes(std::uint32_t number) {
    return 1 + (number >= 1u << 7) + (number >= 1u << 14) + (number >= 1u << 21);
}
// Writes a directory number, lowest bits first, and returns the byte after it.
__device__ std::uint8_t* put_number(std::uint8_t* to, std::uint32_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::uint8_t>(number | 0x80);
    *to++ = static_cast<std::uint8_t>(number);
    return to;
}
// Returns the directory number that skips `blocks` blocks; 0 if there is nothing to skip.
__device__ std::uint32_t passed_over(int blocks) { return blocks > 0 ? static_cast<std::uint32_t>(blocks) * 2 - 1 : 0; }

// Bytes that a range of blocks takes in the directory and in the frame's contents. The padding makes the size a
// multiple of 8.
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
    int next[layout_warps];  // per warp: the index after its last coded block, 0 if it has none
    bool last;               // this thread block is the last one to finish
};

// Computes the places of a stream's blocks by a prefix sum over 512 blocks at a time, writes them if `write` is set,
// and returns the size of the frame. All threads call it.
//
// The directory entry of a block depends on how many blocks were skipped before it, so each thread first needs the
// index of the last coded block: from its warp by a ballot, from other warps through shared memory, else from earlier
// rounds.
__device__ unsigned long long lay_out(const Job& job, const CodedBlocks& coded, int stream, bool write,
                                      LayoutMemory& memory) {
    const int count = job.blocks.grid.count(), first = stream * count;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    Taken before{0, PackedHead::bytes, 0};
    int next = 0;  // the index after the last coded block so far
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

// Turns the sizes of the frames in begins[1..] into offsets by a prefix sum. All threads call it.
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

// One thread block per stream. begins[0] counts the thread blocks that are done; the last one adds up the sizes of the
// frames and sets it back to 0.
__global__ void __launch_bounds__(layout_threads) layout_kernel(Job job) {
    __shared__ LayoutMemory memory;
    const int stream = static_cast<int>(blockIdx.x);
    int chosen = 0;
    if (job.choices[1].coded.sizes) {
        // Two forms of the frame: compare their sizes before the places of the chosen one are written.
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

// Copies bytes with one thread block, four at a time. `from` is even. A few bytes after the source may be read.
__device__ void copy_bytes(const std::uint8_t* from, std::uint32_t size, std::uint8_t* to) {
    const auto before = min(size, static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) & 3u));
    if (threadIdx.x < before) to[threadIdx.x] = from[threadIdx.x];
    from += before;
    to += before;
    size -= before;
    const auto misplaced = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) & 3u);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from - misplaced);
    // Several words are read before the first one is written, so that the reads are in flight together.
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

// One thread block writes some blocks and their directory entries. The thread block of a stream's first block also
// writes the head.
__global__ void __launch_bounds__(copy_threads) copy_kernel(Job job) {
    const int first = static_cast<int>(blockIdx.x) * copied_at_once;
    struct Copy {
        std::uint8_t* frame;
        FramePlace place;
        std::uint32_t heading, size;
        bool chosen;
    } copies[copied_at_once];  // everything is loaded first, so that the loads are in flight together
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
