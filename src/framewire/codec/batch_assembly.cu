#include "framewire/codec/batch_assembly.cuh"
#include "framewire/codec/batch_kernels.hpp"
#include "framewire/codec/coder_tables.cuh"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <cstdint>

// Kernels that join coded blocks into packed frames. This takes two launches, because the place of a block depends on
// the sizes of all blocks before it.
//
//     layout_kernel   one thread block per stream     sizes of all blocks -> places, headings;
//                                                     the last thread block: sizes of all frames -> begins
//     copy_kernel     one thread block per 4 blocks   places, begins, slots -> head, directory entries, bytes

namespace framewire::codec {
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
    Choice choices[2];  // near and lossless form; the second one is optional
    PackedFrames to;
};

// Returns the number of bytes of a directory number, with 7 bits per byte.
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

// Number of bytes that a range of blocks takes in the directory and in the frame's contents. The padding makes the size
// of the struct a multiple of 8.
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
    bool last;               // whether this thread block is the last one to finish
};

// Computes the places of a stream's blocks by prefix sums over 512 blocks at a time, writes them if `write` is set, and
// returns the size of the frame. Called by all threads.
//
// The directory entry of a block depends on how many blocks are skipped before it, so each thread first finds the last
// coded block before its own: in its warp by a ballot, in other warps through shared memory, or else in earlier rounds.
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
        std::uint32_t signalled = 0, signalled_passed = 0;
        if (size) {
            signalled_passed = passed_over(block - after_last);
            signalled = static_cast<std::uint32_t>(number_bytes(size) +
                                                   (signalled_passed ? number_bytes(signalled_passed) : 0));
        }
        const auto in_warp = memory.taken.begin({size, signalled, 0});
        __syncthreads();
        const auto sums = memory.taken.end(in_warp);
        const auto own = before + sums.before;
        if (write && block < count) job.to.places[first + block] = {own.directory, signalled_passed, own.contents};
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

// Turns the sizes of the frames, in begins[1..], into offsets by a prefix sum. Called by all threads.
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

// Lays out the frame of one stream per thread block. begins[0] counts the thread blocks that are done; the last one
// computes the offsets of the frames and resets begins[0] to 0.
__global__ void __launch_bounds__(layout_threads) layout_kernel(Job job) {
    __shared__ LayoutMemory memory;
    const int stream = static_cast<int>(blockIdx.x);
    int chosen = 0;
    if (job.choices[1].coded.sizes) {
        // The frame has two possible forms. Compare their sizes first; only the chosen form is written.
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

// Copies bytes with one thread block, four at a time. `from` must be even. May read a few bytes beyond the source.
__device__ void copy_bytes(const std::uint8_t* from, std::uint32_t size, std::uint8_t* to) {
    const auto before = min(size, static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) & 3u));
    if (threadIdx.x < before) to[threadIdx.x] = from[threadIdx.x];
    from += before;
    to += before;
    size -= before;
    const auto misplaced = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) & 3u);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from - misplaced);
    // Read several words before the first one is written, so that the reads are in flight together.
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

// Writes `copied_at_once` blocks and their directory entries per thread block. The thread block of a stream's first
// block also writes the head.
__global__ void __launch_bounds__(copy_threads) copy_kernel(Job job) {
    const int first = static_cast<int>(blockIdx.x) * copied_at_once;
    struct Copy {
        std::uint8_t* frame;
        FramePlace place;
        std::uint32_t heading, size;
        bool chosen;
    } copies[copied_at_once];  // load all of them first, so that the loads are in flight together
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

}  // namespace framewire::codec

// Comparison of a batch with its reference pictures: one thread block per block of 64x64 pixels.
//
//     ComparedBytes   loads the block of `current` and of R, 16 bytes per access
//     warp, block     reduce the errors
//     thread 0        writes off[block], adds to the stream's summary, or lists the block

namespace framewire::codec {
namespace compare_kernels {
namespace {

constexpr int threads_per_block = 256, warps_per_block = threads_per_block / 32;
constexpr int blocks_per_multiprocessor = 4;  // enough to keep many loads in flight

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

}  // namespace framewire::codec

// Lossless coding of keyframes. One warp codes one block of 64x64 pixels, in three phases:
//
//     find_residuals   8 lanes hold the 8 rows of a sub-block, 4 sub-blocks at once:
//                      chooses the predictor and stores the residuals
//     put_residuals    32 lanes are the 32 rANS states:
//                      lane i codes the residuals i, i + 32, i + 64, ..., the last one first
//     put_parts        one state codes predictors and classes:
//                      its words come before those of the residuals
//
// Shared memory limits a multiprocessor to 16 blocks. A thread block has only one warp, because all others would be
// idle in the last two phases.

namespace framewire::codec {
namespace pictures_kernels {
namespace {

constexpr int warp_lanes = 32;
static_assert(residual_lanes == warp_lanes);
constexpr int parts_per_plane = parts_per_row * parts_per_row;

struct Job {
    cuda::KernelImage<const std::uint8_t> pictures;
    BatchBlocks blocks;
    CoderTables tables;
    CodedBlocks coded;
    bool vectors;  // whether rows are aligned to 8 bytes, so that 8 bytes can be loaded at once
};

template <int channels>
struct Shared {
    union {
        std::uint8_t residuals[block_side * block_side * channels];  // folded, in coding order
        ChainMemory chain;                                           // used after the residuals are coded
    };
    // Per sub-block: the number of its first residual, the first symbol of its class, its predictor and its class.
    std::uint16_t first[channels * parts_per_plane], symbols[channels * parts_per_plane];
    std::uint8_t by[channels * parts_per_plane], part_class[channels * parts_per_plane];
};

// The sub-blocks of a block in coding order. Those at the right and the lower edge may be smaller.
struct Parts {
    BlockPlace place;
    int columns, per_plane;

    __device__ explicit Parts(const BlockPlace& of)
        : place(of), columns(of.part_columns()), per_plane(of.part_columns() * of.part_rows()) {}
    __device__ bool all_full() const { return place.width % part_side == 0 && place.height % part_side == 0; }
};

// Eight samples of one plane in a row of a sub-block, packed into two words, and the left neighbour of each sample in
// the same layout.
struct Row {
    std::uint32_t low = 0, high = 0, left_low = 0, left_high = 0;
};

// Four pixels as three words, one word per colour.
struct Colours {
    std::uint32_t blue, green, red;
};
__device__ Colours colours_of(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return {__byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210), __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210),
            __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410)};
}

__device__ Row row_of(std::uint32_t low, std::uint32_t high, std::uint32_t before) {
    return {low, high, low << 8 | before, __funnelshift_l(low, high, 8)};
}

// Loads 8 pixels from (x, y) on as planes G, B - G and R - G (or as gray), with their left neighbours. Pixels outside
// the block are 0.
template <int channels>
__device__ void load_row(const Job& job, int stream, const BlockPlace& place, int x, int y, Row* rows) {
    if (y < 0 || y >= place.height) return;
    const auto* pixel = job.pictures.row(stream, place.y + y) + std::int64_t{place.x + x} * channels;
    const int width = min(part_side, place.width - x);
    if (job.vectors && width == part_side) {
        const auto* const eights = reinterpret_cast<const uint2*>(pixel);
        const auto before = x > 0 ? reinterpret_cast<const std::uint32_t*>(pixel)[-1] : 0u;
        if constexpr (channels == 1) {
            rows[0] = row_of(eights[0].x, eights[0].y, before >> 24);
        } else {
            const auto a = eights[0], b = eights[1], c = eights[2];
            const auto low = colours_of(a.x, a.y, b.x), high = colours_of(b.y, c.x, c.y);
            const auto blue = before >> 8 & 0xFFu, green = before >> 16 & 0xFFu, red = before >> 24;
            rows[0] = row_of(low.green, high.green, green);
            rows[1] = row_of(__vsub4(low.blue, low.green), __vsub4(high.blue, high.green), blue - green & 0xFFu);
            rows[2] = row_of(__vsub4(low.red, low.green), __vsub4(high.red, high.green), red - green & 0xFFu);
        }
        return;
    }
    const auto sample = [&](int at, int plane) -> std::uint32_t {
        if constexpr (channels == 1) return pixel[at];
        const auto green = pixel[at * channels + 1];
        if (plane == 0) return green;
        return static_cast<std::uint8_t>(pixel[at * channels + (plane == 1 ? 0 : 2)] - green);
    };
#pragma unroll
    for (int plane = 0; plane < channels; ++plane) {
        std::uint32_t low = 0, high = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (i < width) low |= sample(i, plane) << (8 * i);
            if (i + 4 < width) high |= sample(i + 4, plane) << (8 * i);
        }
        rows[plane] = row_of(low, high, x > 0 ? sample(-1, plane) : 0u);
    }
}

struct Residuals {
    std::uint32_t low, high;
};
// Subtracts the prediction by `by` from four samples per word, modulo 256.
__device__ Residuals residuals_of(const Row& here, const Row& above, Predictor by) {
    if (by == Predictor::left) return {__vsub4(here.low, here.left_low), __vsub4(here.high, here.left_high)};
    const Residuals rise{__vsub4(here.low, above.low), __vsub4(here.high, above.high)};
    if (by == Predictor::above) return rise;
    return {__vsub4(rise.low, __vsub4(here.left_low, above.left_low)),
            __vsub4(rise.high, __vsub4(here.left_high, above.left_high))};
}
// Folds signed residuals to unsigned numbers, four per word: 0, -1, 1, -2, 2 ... become 0, 1, 2, 3, 4 ...
__device__ std::uint32_t fold4(std::uint32_t residuals) {
    const auto twice = (residuals & 0x7F7F7F7Fu) << 1;
    return twice ^ __vcmplts4(residuals, 0u);
}

// Returns a mask of the first `count` bytes of a word.
__device__ std::uint32_t first_bytes(int count) { return count >= 4 ? ~0u : count <= 0 ? 0u : (1u << (8 * count)) - 1; }

// Finds the predictor with the smallest sum of absolute residuals for each sub-block, and its class and folded
// residuals. Eight lanes hold the rows of a sub-block and add up their sums with shuffles.
template <int channels>
__device__ void find_residuals(const Job& job, int stream, const Parts& parts, Shared<channels>& shared) {
    const auto& place = parts.place;
    for (int i = static_cast<int>(threadIdx.x); i < parts_per_plane * part_side; i += warp_lanes) {
        const int y = i % part_side, part = i / part_side;
        const bool is_part = part < parts.per_plane;
        const int left = part % parts.columns * part_side, top = part / parts.columns * part_side;
        const int width = min(part_side, place.width - left), height = min(part_side, place.height - top);
        Row here[channels], above[channels];
        if (is_part && y < height) {
            load_row<channels>(job, stream, place, left, top + y, here);
            load_row<channels>(job, stream, place, left, top + y - 1, above);
        }
        const auto low_mask = first_bytes(width), high_mask = first_bytes(width - 4);
#pragma unroll
        for (int plane = 0; plane < channels; ++plane) {
            std::uint32_t sums[predictors];
#pragma unroll
            for (int by = 0; by < predictors; ++by) {
                const auto of = residuals_of(here[plane], above[plane], static_cast<Predictor>(by));
                sums[by] = __dp4a(__vabs4(of.low) & low_mask, 0x01010101u,
                                  __dp4a(__vabs4(of.high) & high_mask, 0x01010101u, 0u));
#pragma unroll
                for (int step = 1; step < part_side; step *= 2) sums[by] += __shfl_xor_sync(~0u, sums[by], step);
            }
            if (!is_part || y >= height) continue;
            int best = 0;
            auto least = sums[0];
#pragma unroll
            for (int by = 1; by < predictors; ++by)
                if (sums[by] < least) {
                    least = sums[by];
                    best = by;
                }
            const int index = plane * parts.per_plane + part;
            const int first = plane * place.pixels() + top * place.width + left * height;
            if (y == 0) {
                shared.by[index] = static_cast<std::uint8_t>(best);
                const int part_class = residual_class(least, width * height);
                shared.part_class[index] = static_cast<std::uint8_t>(part_class);
                shared.symbols[index] = static_cast<std::uint16_t>(first_residual(part_class));
                shared.first[index] = static_cast<std::uint16_t>(first);
            }
            const auto residuals = residuals_of(here[plane], above[plane], static_cast<Predictor>(best));
            const auto low = fold4(residuals.low), high = fold4(residuals.high);
            auto* const to = shared.residuals + first + y * width;
            if (parts.all_full()) {
                *reinterpret_cast<uint2*>(to) = {low, high};
            } else {
                for (int x = 0; x < width; ++x)
                    to[x] = static_cast<std::uint8_t>((x < 4 ? low : high) >> (8 * (x % 4)));
            }
        }
    }
}

// Codes the residuals of all sub-blocks, the last one first, because rANS decodes in reverse order. The search for a
// residual's sub-block therefore only goes to lower numbers.
template <int channels, bool full_parts>
__device__ void put_residuals(const Job& job, const Parts& parts, const Shared<channels>& shared,
                              ResidualWords& words) {
    const int samples = channels * parts.place.pixels();
    int index = channels * parts.per_plane - 1;
    codec::put_residuals<full_parts>(
        samples,
        [&](int number) {
            if constexpr (full_parts)
                index = number / (part_side * part_side);
            else
                while (shared.first[index] > number) --index;
            return coming_residual(job.tables, shared.symbols[index], shared.residuals[number]);
        },
        words);
}

// Codes the predictor and the class of each sub-block. The words precede those of the residuals.
template <int channels>
__device__ void put_parts(const Job& job, const Parts& parts, Shared<channels>& shared, ResidualWords& words) {
    __syncwarp();  // shared.chain overlaps shared.residuals
    Chains<1> chain(words.end - words.used, shared.chain);
    chain.put_all(
        channels * parts.per_plane,
        [&](int part) {
            const int before = part ? shared.part_class[part - 1] : 0;
            return static_cast<std::uint32_t>(first_symbol<picture_models::part>(before) +
                                              shared.by[part] * picture_models::classes + shared.part_class[part]);
        },
        [&](std::uint32_t entry) { return chain_symbol(job.tables.pictures, static_cast<int>(entry)); });
    words.used = static_cast<int>(words.end - chain.finish());
}

// Copies the samples of a block, and pads them to an even number of bytes.
template <int channels>
__device__ void copy_plain(const Job& job, int stream, const BlockPlace& place, std::uint8_t* to) {
    const int row_bytes = place.width * channels, bytes = place.height * row_bytes;
    for (int i = static_cast<int>(threadIdx.x); i < bytes + bytes % 2; i += warp_lanes)
        to[i] = i < bytes ? job.pictures.row(stream,
                                             place.y + i / row_bytes)[std::int64_t{place.x} * channels + i % row_bytes]
                          : std::uint8_t{0};
}

template <int channels>
__global__ void __launch_bounds__(warp_lanes) pictures_kernel(Job job) {
    __shared__ __align__(16) Shared<channels> shared;
    const int block = static_cast<int>(blockIdx.x), stream = job.blocks.stream(block);
    const auto place = job.blocks.place(block);
    const Parts parts(place);
    const int plain_bytes = place.pixels() * channels;
    auto* const slot_end = job.coded.slot_end(block);

    find_residuals(job, stream, parts, shared);
    __syncwarp();
    ResidualWords words{reinterpret_cast<std::uint16_t*>(slot_end), plain_bytes / 2 + 2 * warp_lanes, 0};
    parts.all_full() ? put_residuals<channels, true>(job, parts, shared, words)
                     : put_residuals<channels, false>(job, parts, shared, words);
    // The plain form is used if the words take at least as many bytes as the samples.
    bool whole = words.used * 2 < plain_bytes;
    if (whole) {
        put_parts(job, parts, shared, words);
        whole = words.used * 2 < plain_bytes;
    }
    const int bytes = whole ? words.used * 2 : plain_bytes + plain_bytes % 2;
    if (!whole) copy_plain<channels>(job, stream, place, slot_end - bytes);
    if (threadIdx.x < form_bytes)
        (slot_end - bytes - form_bytes)[threadIdx.x] =
            static_cast<std::uint8_t>((whole ? form_whole : form_plain) >> (8 * threadIdx.x));
    if (threadIdx.x == 0) job.coded.sizes[block] = static_cast<std::uint32_t>(form_bytes + bytes);
}

}  // namespace
}  // namespace pictures_kernels

void encode_pictures(DeviceView<const std::uint8_t> pictures, const CoderTables& tables, const CodedBlocks& coded,
                     const cuda::Stream& stream) {
    using namespace pictures_kernels;
    const auto& shape = pictures.shape();
    const cuda::KernelImage image(pictures);
    const Job job{image, {BlockGrid(shape), shape.channels, shape.frames}, tables, coded, image.aligned_to(8)};
    const auto kernel = shape.channels == 1 ? pictures_kernel<1> : pictures_kernel<3>;
    cuda::Launch(stream, static_cast<unsigned>(job.blocks.count()), warp_lanes)(kernel, job);
}

}  // namespace framewire::codec
