#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder.hpp"
#include "framewire/cuda/kernel.cuh"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

// Difference encoder on CUDA: one launch per batch of up to 32 streams. Each thread block takes one tile of 16 KiB,
// compares it with the reference, updates the reference, and appends its changes to the list of its stream.
//
//     thread      4 groups of 16 bytes ("slabs" of 4 KiB per thread block): loads, compares, stores the reference
//     block       scans the number of changes of all four slabs at once, 16 bits each
//     warp 0      decoupled look-back over the earlier tiles: the place of the tile's first change
//     warp 1      adds the errors to those of the stream
//     block       changes -> shared memory -> positions and differences, in runs
//
// The look-back is that of Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
// Thread blocks are interleaved over the streams, so that the tiles of a look-back start at different times and rarely
// wait for each other.

namespace framewire::codec {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int group_bytes = 16;                              // one vector load
constexpr int slab_bytes = threads_per_block * group_bytes;  // one load of all threads
constexpr int slabs = static_cast<int>(cuda_tile_bytes) / slab_bytes;
constexpr int staged_changes = slab_bytes;  // capacity of the staging memory: all bytes of a slab
static_assert(slabs == 4, "four counts are packed in one 64-bit scan");

// Arguments of the kernel for one stream.
struct StreamJob {
    const std::uint8_t* current;
    std::uint8_t* reference;
    std::uint32_t* positions;
    std::uint8_t* differences;
    Summary* summary;
    // The threshold in the form that changed_bytes() needs.
    std::uint32_t threshold_addend, threshold_low_mask;
};

struct Job {
    StreamJob streams[cuda_streams_per_launch];
    std::uint32_t stream_count;
    std::uint32_t frame_bytes, row_bytes;  // positions fit 32 bits: a frame has at most 3 * 2^28 bytes
    std::uint32_t tiles_per_frame;
    std::int64_t current_row_stride, reference_row_stride;
    CudaWorkspace workspace;
};
static_assert(sizeof(Job) <= 4096, "arguments of a kernel");

// Compares the four distances in a word with the threshold t. The highest bit of each byte of the result is set if that
// distance exceeds t. If t < 128, a byte exceeds t if its low 7 bits plus 127 - t carry into bit 7, or if bit 7 was
// set. If t >= 128, a byte exceeds t if bit 7 was set and its low 7 bits plus 255 - t carry.
__device__ std::uint32_t changed_bytes(std::uint32_t distance, const StreamJob& job) {
    const auto sum = (distance & 0x7F7F7F7Fu) + job.threshold_addend;
    return ((sum & distance) | ((sum | distance) & job.threshold_low_mask)) & 0x80808080u;
}

// Returns a word in which each byte is 255 if its highest bit was set, else 0.
__device__ std::uint32_t spread(std::uint32_t highest_bits) {
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, 0, 0xBA98;" : "=r"(bytes) : "r"(highest_bits));
    return bytes;
}

// Returns the offset of the byte at a position in a view that may have gaps between rows.
__device__ std::int64_t address_of(std::uint32_t position, std::int64_t row_stride, std::uint32_t row_bytes) {
    return position / row_bytes * row_stride + position % row_bytes;
}

// Loads the 16 bytes at `position`; bytes beyond the end of the frame are 0. `streaming`: whether the data is read only
// once.
template <bool vectors>
__device__ uint4 load_group(const std::uint8_t* frame, std::uint32_t position, std::uint32_t frame_bytes,
                            std::int64_t row_stride, std::uint32_t row_bytes, bool streaming) {
    if (vectors && position + group_bytes <= frame_bytes) {
        const auto* group = reinterpret_cast<const uint4*>(frame + position);
        return streaming ? __ldcs(group) : *group;
    }
    std::uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < group_bytes; ++i)
        if (position + i < frame_bytes)
            words[i / 4] |= std::uint32_t{frame[address_of(position + i, row_stride, row_bytes)]} << (i % 4 * 8);
    return {words[0], words[1], words[2], words[3]};
}

// Stores 16 bytes at `position`, except those beyond the end of the frame.
template <bool vectors>
__device__ void store_group(std::uint8_t* frame, std::uint32_t position, std::uint32_t frame_bytes,
                            std::int64_t row_stride, std::uint32_t row_bytes, uint4 group) {
    if (vectors && position + group_bytes <= frame_bytes) {
        *reinterpret_cast<uint4*>(frame + position) = group;
        return;
    }
    const std::uint32_t words[4] = {group.x, group.y, group.z, group.w};
#pragma unroll
    for (int i = 0; i < group_bytes; ++i)
        if (position + i < frame_bytes)
            frame[address_of(position + i, row_stride, row_bytes)] =
                static_cast<std::uint8_t>(words[i / 4] >> (i % 4 * 8));
}

struct Shared {
    std::uint32_t launch;
    cuda::BlockScan<unsigned long long, warps_per_block> counts;
    std::uint32_t warp_max_error[warps_per_block];
    std::uint32_t warp_squared_error[warps_per_block];
    std::uint32_t before;
    std::uint16_t offsets[staged_changes];
    std::uint8_t differences[staged_changes];
};

// Returns the highest bits of the four bytes as the low four bits of the result. The product adds distinct powers of
// two, so there are no carries.
__device__ std::uint32_t gather_bits(std::uint32_t highest_bits) { return ((highest_bits >> 7) * 0x01020408u) >> 24; }

// Writes the changes of a thread in one slab to shared memory, starting at place `rank`. The bits of `changed` tell
// which bytes changed.
__device__ void stage(Shared& shared, std::uint32_t rank, std::uint32_t offset, std::uint32_t changed,
                      uint4 differences) {
    for (; changed; changed &= changed - 1, ++rank) {
        const auto bit = static_cast<std::uint32_t>(__ffs(static_cast<int>(changed)) - 1);
        const auto low = bit & 4 ? differences.y : differences.x, high = bit & 4 ? differences.w : differences.z;
        shared.offsets[rank] = static_cast<std::uint16_t>(offset + bit);
        shared.differences[rank] = static_cast<std::uint8_t>((bit & 8 ? high : low) >> (8 * (bit & 3)));
    }
}

// Adds a tile's errors to those of its stream. The last tile of a stream writes the sums to its summary and clears them
// for the next launch. The last tile of the launch increments the number of launches.
__device__ void finish_tile(const Job& job, std::uint32_t stream, std::uint32_t max_error,
                            unsigned long long squared_error) {
    auto& sums = job.workspace.sums[stream];
    if (max_error) atomicMax(&sums.max_error, max_error);
    if (squared_error) atomicAdd(&sums.squared_error, squared_error);
    __threadfence();
    if (atomicInc(&sums.tiles_done, job.tiles_per_frame - 1) == job.tiles_per_frame - 1) {
        __threadfence();
        auto& summary = *job.streams[stream].summary;
        summary.max_error = atomicExch(&sums.max_error, 0u);
        summary.squared_error = atomicExch(&sums.squared_error, 0ull);
    }
    if (atomicInc(&job.workspace.progress->tiles_done, gridDim.x - 1) == gridDim.x - 1)
        atomicAdd(&job.workspace.progress->launches_done, 1u);
}

template <bool vectors>
__global__ void __launch_bounds__(threads_per_block, vectors ? 4 : 2) encode_kernel(const __grid_constant__ Job job) {
    __shared__ Shared shared;
    const auto lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    const auto stream = blockIdx.x % job.stream_count, tile = blockIdx.x / job.stream_count;
    const auto& own = job.streams[stream];
    const auto begin = tile * static_cast<std::uint32_t>(cuda_tile_bytes);
    // The last tile of the launch increments the counter, and this tile is not done yet, so the counter is still
    // unchanged.
    if (threadIdx.x == 0) shared.launch = job.workspace.progress->launches_done + 1;
    const auto position_of = [&](int slab) { return begin + slab * slab_bytes + threadIdx.x * group_bytes; };

    uint4 now[slabs], held[slabs];  // once compared, `now` becomes the differences
#pragma unroll
    for (int slab = 0; slab < slabs; ++slab) {
        now[slab] = load_group<vectors>(own.current, position_of(slab), job.frame_bytes, job.current_row_stride,
                                        job.row_bytes, true);
        held[slab] = load_group<vectors>(own.reference, position_of(slab), job.frame_bytes, job.reference_row_stride,
                                         job.row_bytes, false);
    }

    std::uint32_t changed[slabs];   // one bit per byte
    unsigned long long counts = 0;  // number of changes per slab, 16 bits each
    std::uint32_t squared_error = 0, max_low = 0, max_high = 0;
#pragma unroll
    for (int slab = 0; slab < slabs; ++slab) {
        // Returns a bit for each byte of a word, set if the byte changed. Replaces `now_word` with the differences and
        // `held_word` with the updated reference.
        const auto compare = [&](std::uint32_t& now_word, std::uint32_t& held_word) {
            const auto distance = __vabsdiffu4(now_word, held_word);
            const auto bits = changed_bytes(distance, own);
            const auto mask = spread(bits);
            const auto error = distance & ~mask;
            squared_error = __dp4a(error, error, squared_error);
            max_low = __vmaxu2(max_low, error & 0x00FF00FFu);
            max_high = __vmaxu2(max_high, (error >> 8) & 0x00FF00FFu);
            const auto merged = (now_word & mask) | (held_word & ~mask);
            now_word = __vsub4(now_word, held_word);
            held_word = merged;
            return gather_bits(bits);
        };
        changed[slab] = compare(now[slab].x, held[slab].x);
        changed[slab] |= compare(now[slab].y, held[slab].y) << 4;
        changed[slab] |= compare(now[slab].z, held[slab].z) << 8;
        changed[slab] |= compare(now[slab].w, held[slab].w) << 12;
        counts |= static_cast<unsigned long long>(__popc(changed[slab])) << (16 * slab);
        if (changed[slab])
            store_group<vectors>(own.reference, position_of(slab), job.frame_bytes, job.reference_row_stride,
                                 job.row_bytes, held[slab]);
    }

    // Prefix sums over the thread block for all four slabs at once. A slab has at most 4096 changes, so its count fits
    // into 16 bits.
    const auto rank_in_warp = shared.counts.begin(counts);
    const auto max_pairs = __vmaxu2(max_low, max_high);
    const auto max_error = cuda::warp_max(max(max_pairs & 0xFFFFu, max_pairs >> 16));
    const auto warp_squared = cuda::warp_sum(squared_error);  // at most 2048 * 254^2, which fits
    if (lane == 31) {
        shared.warp_max_error[warp] = max_error;
        shared.warp_squared_error[warp] = warp_squared;
    }
    __syncthreads();
    const auto [rank, slab_counts] = shared.counts.end(rank_in_warp);
    const auto field = [](unsigned long long packed, int slab) {
        return static_cast<std::uint32_t>(packed >> (16 * slab)) & 0xFFFFu;
    };
    const auto tile_count =
        field(slab_counts, 0) + field(slab_counts, 1) + field(slab_counts, 2) + field(slab_counts, 3);

    auto* states = job.workspace.states + std::int64_t{stream} * job.tiles_per_frame;
    if (warp == 0) {
        const cuda::LookBack tiles(states, cuda::NumberedTiles{shared.launch});
        const auto before = tiles.sum_before(tile, tile_count);
        if (lane == 0) {
            if (tile == job.tiles_per_frame - 1) own.summary->count = before + tile_count;
            shared.before = before;
        }
    } else if (warp == 1 && lane == 0) {
        std::uint32_t block_max = 0;
        unsigned long long block_squared = 0;
        for (int other = 0; other < warps_per_block; ++other) {
            block_max = max(block_max, shared.warp_max_error[other]);
            block_squared += shared.warp_squared_error[other];
        }
        finish_tile(job, stream, block_max, block_squared);
    }
    if (tile_count == 0) return;

    // Staging in shared memory makes the writes contiguous. All slabs are staged together if they fit, otherwise one
    // after the other.
    const bool at_once = tile_count <= staged_changes;
    std::uint32_t slab_begin = 0, written = 0;
#pragma unroll
    for (int slab = 0; slab < slabs; ++slab) {
        const auto in_slab = field(slab_counts, slab);
        if (changed[slab])
            stage(shared, field(rank, slab) + (at_once ? slab_begin : 0),
                  static_cast<std::uint32_t>(slab * slab_bytes + threadIdx.x * group_bytes), changed[slab], now[slab]);
        slab_begin += in_slab;
        if (at_once && slab != slabs - 1) continue;
        __syncthreads();
        const auto out = std::int64_t{shared.before} + written;
        const auto count = slab_begin - written;
        for (auto i = threadIdx.x; i < count; i += threads_per_block) {
            own.positions[out + i] = begin + shared.offsets[i];
            own.differences[out + i] = shared.differences[i];
        }
        written = slab_begin;
        if (slab != slabs - 1) __syncthreads();
    }
}

// Arguments of a launch for one frame of one stream.
struct StreamLaunch {
    DeviceView<const std::uint8_t> current;
    DeviceView<std::uint8_t> reference;
    ChangesView<MemorySpace::device> changes;
    int threshold = 0;
};

StreamJob job_of(const StreamLaunch& launch) {
    const auto threshold = static_cast<std::uint32_t>(launch.threshold);
    const bool low = threshold < 128;
    return {launch.current.data(),
            launch.reference.data(),
            launch.changes.positions,
            launch.changes.differences,
            launch.changes.summaries,
            ((low ? 127 : 255) - threshold) * 0x01010101u,
            low ? ~0u : 0u};
}

// Returns true if the frame can be read as aligned vectors.
template <class Byte>
bool vectors_fit(DeviceView<Byte> frame) {
    return frame.dense_rows() && reinterpret_cast<std::uintptr_t>(frame.data()) % group_bytes == 0;
}

// Queues one launch for at most cuda_streams_per_launch streams. All current frames must have the shape `frame` and the
// same row stride; the same applies to all references.
void queue_encoding(std::span<const StreamLaunch> streams, const Shape& frame, const CudaWorkspace& workspace,
                    const cuda::Stream& stream) {
    Job job{{},
            static_cast<std::uint32_t>(streams.size()),
            static_cast<std::uint32_t>(frame.frame_bytes()),
            static_cast<std::uint32_t>(frame.row_bytes()),
            static_cast<std::uint32_t>(cuda_tiles_per_frame(frame)),
            streams.front().current.row_stride_bytes(),
            streams.front().reference.row_stride_bytes(),
            workspace};
    std::ranges::transform(streams, job.streams, job_of);
    const auto blocks = job.tiles_per_frame * job.stream_count;
    const bool vectors = std::ranges::all_of(streams, [](const StreamLaunch& launch) {
        return vectors_fit(launch.current) && vectors_fit(launch.reference);
    });
    if (vectors)
        cuda::Launch(stream, blocks, threads_per_block)(encode_kernel<true>, job);
    else
        cuda::Launch(stream, blocks, threads_per_block)(encode_kernel<false>, job);
}

}  // namespace

void Encoder::encode(DeviceView<const std::uint8_t> current, DeviceView<std::uint8_t> reference,
                     const ChangesView<MemorySpace::device>& changes, std::optional<int> of_frame) {
    validate(current, shape_, "the encoder's frame");
    validate(reference, shape_, "the encoder's reference");
    validate(changes, shape_, "the encoder's changes");
    const auto threshold = threshold_of_frame(of_frame);
    const CudaWorkspace workspace(workspace_.data(), shape_);
    std::array<StreamLaunch, cuda_streams_per_launch> launches;
    for (int first = 0; first < shape_.frames; first += cuda_streams_per_launch) {
        const int count = std::min(shape_.frames - first, cuda_streams_per_launch);
        for (int stream = first; stream < first + count; ++stream)
            launches[static_cast<std::size_t>(stream - first)] = {
                current.frames(stream, 1), reference.frames(stream, 1), changes.of_stream(stream), threshold};
        queue_encoding(std::span(launches).first(static_cast<std::size_t>(count)), shape_, workspace,
                       executor_->stream());
    }
}

}  // namespace framewire::codec
