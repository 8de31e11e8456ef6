#include "framewire/core/view.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/morphology.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

// Dilation on the GPU. A warp covers a row of a strip, 16 bytes per thread; its outermost threads hold the bytes beside
// the strip that the element reaches. A block
//
//   1. loads its tile, with the rows above and below, into shared memory
//   2. dilates two rows of results at a time per warp, reading rows from the tile
//      up and down, and exchanging bytes along the row by shuffles
//
// An erosion dilates the complement, so that zero is neutral for both.
//
// Maxima are computed for two bytes at once, in the upper bytes of 16-bit halves; the lower bytes may hold anything. A
// word's odd bytes are used in place, its even bytes are shifted up.

namespace framewire {
namespace {

constexpr int warp_threads = 32;
constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_threads;
constexpr int words = 4;  // words per thread
constexpr int thread_bytes = 4 * words;
constexpr int rows_per_turn = 2;  // rows of results per warp and turn; their windows share all but two rows

// Maximum height of a band, which limits the tile in shared memory.
constexpr int most_band_rows = 64;
constexpr int most_shared_rows = 96;  // a tile of 48 KiB, which every GPU grants
static_assert(most_shared_rows > 2 * (max_element_px / 2) + rows_per_turn);

// Arguments of the kernel.
struct Job {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    bool in_aligned, out_aligned;  // true if every row starts at a multiple of 16 bytes
    int row_bytes, height;

    DilationSteps steps;
    std::uint32_t flip;  // ~0 for an erosion, otherwise 0
    int rim_threads;     // number of threads beside a strip, on either side
    int strips, bands, band_rows;
};

// A thread's 16 bytes, as pairs.
struct Bytes {
    std::uint32_t even[words], odd[words];
};

// Splits 16 bytes into pairs.
__device__ Bytes take_apart(uint4 raw) {
    return {{raw.x << 8, raw.y << 8, raw.z << 8, raw.w << 8}, {raw.x, raw.y, raw.z, raw.w}};
}

// Joins pairs to 16 bytes; the inverse of take_apart().
__device__ uint4 put_together(const Bytes& bytes) {
    const auto word = [&](int index) { return __byte_perm(bytes.even[index], bytes.odd[index], 0x7351); };
    return {word(0), word(1), word(2), word(3)};
}

// Sets `joined` to the maximum of `joined`, `one` and `other`, byte by byte.
__device__ void join(Bytes& joined, const Bytes& one, const Bytes& other) {
#pragma unroll
    for (int word = 0; word < words; ++word) {
        joined.even[word] = __vimax3_u16x2(joined.even[word], one.even[word], other.even[word]);
        joined.odd[word] = __vimax3_u16x2(joined.odd[word], one.odd[word], other.odd[word]);
    }
}

// Joins each byte with the bytes that lie `shift` bytes to its left and right.
template <int shift>
__device__ void dilate_along(Bytes& bytes) {
    constexpr int rim = (shift + 4) / 4;  // words read from each neighbouring thread
    static_assert(rim <= words);
    std::uint32_t stream[2][rim + words + rim];  // even and odd bytes
#pragma unroll
    for (int word = 0; word < words; ++word) {
        stream[0][rim + word] = bytes.even[word];
        stream[1][rim + word] = bytes.odd[word];
    }
#pragma unroll
    for (int odd = 0; odd < 2; ++odd)
#pragma unroll
        for (int word = 0; word < rim; ++word) {
            // With a shift of 1, only odd bytes are read from the previous word, and only even bytes from the following
            // one.
            if (shift > 1 || odd) stream[odd][word] = __shfl_up_sync(~0u, stream[odd][words + word], 1);
            if (shift > 1 || !odd) stream[odd][rim + words + word] = __shfl_down_sync(~0u, stream[odd][rim + word], 1);
        }
    // Returns the pair that starts at byte `at` of the stream: that byte and the one after the next.
    const auto pair = [&](int at) {
        const int half = at / 2;
        const auto* of_kind = stream[at % 2];
        return half % 2 == 0 ? of_kind[half / 2] : __funnelshift_r(of_kind[half / 2], of_kind[half / 2 + 1], 16);
    };
#pragma unroll
    for (int word = 0; word < words; ++word) {
        const int at = 4 * (rim + word);
        bytes.even[word] = __vimax3_u16x2(bytes.even[word], pair(at - shift), pair(at + shift));
        bytes.odd[word] = __vimax3_u16x2(bytes.odd[word], pair(at + 1 - shift), pair(at + 1 + shift));
    }
}

// Dispatches on the shift, because each shift has separate code.
template <int channels>
__device__ void dilate_along(Bytes& bytes, int shift_px) {
    if (shift_px == 1)
        dilate_along<channels>(bytes);
    else if (shift_px == 2)
        dilate_along<2 * channels>(bytes);
    else if (shift_px == 3)
        dilate_along<3 * channels>(bytes);
}

// Returns the steps for the disc of the moving-object report as a constant. The compiler unrolls them and keeps every
// row in separate registers.
FRAMEWIRE_HOST_DEVICE constexpr DilationSteps steps_of_disc_15() {
    DilationSteps steps;
    steps.radius = 7;
    for (const auto step : {DilationSteps::Step{1, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {7, 2}, {8, 0}})
        steps.steps[steps.count++] = step;
    return steps;
}

// Runs the steps for two rows of results, of which the first is `row` in the tile.
template <int channels>
struct RowPair {
    Bytes result[rows_per_turn];
    // The outermost rows read so far. The upper row has just been joined to the first result and is the next one for
    // the second result; the lower row has been joined to the second and is the next one for the first.
    Bytes above, below;
    const uint4 *up, *down;

    // Starts with the two rows themselves.
    __device__ explicit RowPair(const uint4* row) : up(row), down(row + warp_threads) {
        result[0] = above = take_apart(*up);
        result[1] = below = take_apart(*down);
    }

    // Moves up and down by one row, and joins both new rows to the results.
    __device__ void join_next_rows() {
        up -= warp_threads;
        down += warp_threads;
        const auto next_above = take_apart(*up), next_below = take_apart(*down);
        join(result[0], next_above, below);
        join(result[1], above, next_below);
        above = next_above;
        below = next_below;
    }

    // Runs the steps of any element.
    __device__ void dilate(const DilationSteps& steps) {
        int distance = 1;
        for (int index = 0; index < steps.count; ++index) {
            for (; distance < steps.steps[index].rows_end; ++distance) join_next_rows();
            for (auto& one : result) dilate_along<channels>(one, steps.steps[index].shift_px);
        }
    }

    // Runs the steps of steps_of_disc_15(), unrolled.
    __device__ void dilate_by_disc_15() {
        constexpr auto steps = steps_of_disc_15();
#pragma unroll
        for (int index = 0; index < steps.count; ++index) {
#pragma unroll
            for (int distance = index == 0 ? 1 : steps.steps[index - 1].rows_end;
                 distance < steps.steps[index].rows_end; ++distance)
                join_next_rows();
#pragma unroll
            for (auto& one : result) dilate_along<channels>(one, steps.steps[index].shift_px);
        }
    }
};

// Loads 16 bytes of a row starting at `at`, complemented for an erosion. Bytes outside the row are zero.
__device__ uint4 load(const std::uint8_t* row, int at, const Job& job) {
    uint4 raw{};
    if (job.in_aligned && at >= 0 && at + thread_bytes <= job.row_bytes) {
        raw = *reinterpret_cast<const uint4*>(row + at);
        return {raw.x ^ job.flip, raw.y ^ job.flip, raw.z ^ job.flip, raw.w ^ job.flip};
    }
    std::uint32_t gathered[words] = {};
#pragma unroll
    for (int byte = 0; byte < thread_bytes; ++byte)
        if (at + byte >= 0 && at + byte < job.row_bytes)
            gathered[byte / 4] |= ((row[at + byte] ^ job.flip) & 0xff) << (8 * (byte % 4));
    return {gathered[0], gathered[1], gathered[2], gathered[3]};
}

// Stores 16 bytes, complemented for an erosion, except those outside the row.
__device__ void store(std::uint8_t* row, int at, uint4 raw, const Job& job) {
    raw = {raw.x ^ job.flip, raw.y ^ job.flip, raw.z ^ job.flip, raw.w ^ job.flip};
    if (job.out_aligned && at + thread_bytes <= job.row_bytes) {
        *reinterpret_cast<uint4*>(row + at) = raw;
        return;
    }
    const std::uint32_t gathered[words] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int byte = 0; byte < thread_bytes; ++byte)
        if (at + byte < job.row_bytes)
            row[at + byte] = static_cast<std::uint8_t>(gathered[byte / 4] >> (8 * (byte % 4)));
}

// Runs one phase. The grid has strips, bands and frames along x.
template <int channels, bool disc_15>
__global__ void __launch_bounds__(threads_per_block, 4) morphology_kernel(__grid_constant__ const Job job) {
    extern __shared__ uint4 shared[];
    const int lane = static_cast<int>(threadIdx.x) % warp_threads, warp = static_cast<int>(threadIdx.x) / warp_threads;
    // Position of the block: strip, band and frame.
    const int strip = static_cast<int>(blockIdx.x) % job.strips;
    const int band = static_cast<int>(blockIdx.x) / job.strips % job.bands;
    const std::int64_t frame = static_cast<int>(blockIdx.x) / job.strips / job.bands;
    const int strip_threads = warp_threads - 2 * job.rim_threads;
    const int at = (strip * strip_threads + lane - job.rim_threads) * thread_bytes;
    const int radius = job.steps.radius, y_begin = band * job.band_rows;
    auto* tile = shared + lane;

    const auto* in = job.in.data + frame * job.in.frame_stride;
    for (int row = warp; row < job.band_rows + 2 * radius; row += warps_per_block) {
        const int y = y_begin - radius + row;
        uint4 raw{};
        if (y >= 0 && y < job.height) raw = load(in + y * job.in.row_stride, at, job);
        tile[row * warp_threads] = raw;
    }
    __syncthreads();

    auto* out = job.out.data + frame * job.out.frame_stride;
    // Only threads inside the strip have results.
    const bool in_strip = lane >= job.rim_threads && lane < warp_threads - job.rim_threads && at < job.row_bytes;
    const int rows = min(job.band_rows, job.height - y_begin);
    for (int row = warp * rows_per_turn; row < rows; row += warps_per_block * rows_per_turn) {
        RowPair<channels> pair(tile + (row + radius) * warp_threads);
        if constexpr (disc_15)
            pair.dilate_by_disc_15();
        else
            pair.dilate(job.steps);
#pragma unroll
        for (int next = 0; next < rows_per_turn; ++next)
            if (in_strip && row + next < rows)
                store(out + (y_begin + row + next) * job.out.row_stride, at, put_together(pair.result[next]), job);
    }
}

}  // namespace

// Divides images into strips and bands and chooses the kernel; the disc of the report has its own instance.
Morphology::Phase Morphology::plan_for_cuda() const {
    Job job{.row_bytes = static_cast<int>(shape_.row_bytes()), .height = shape_.height, .steps = steps_};
    job.rim_threads = cuda::parts(steps_.radius * shape_.channels, thread_bytes);
    job.strips = cuda::parts(job.row_bytes, (warp_threads - 2 * job.rim_threads) * thread_bytes);
    // With high bands fewer rows are loaded twice; with low bands there are enough blocks for the GPU even for a few
    // frames.
    constexpr std::int64_t wanted_blocks = 512;
    const auto bands_wanted = cuda::parts(wanted_blocks, std::int64_t{job.strips} * shape_.frames);
    const auto rows_wanted = static_cast<int>(cuda::parts(std::int64_t{shape_.height}, bands_wanted));
    job.band_rows = std::clamp(rows_wanted, 8, std::min(most_band_rows, most_shared_rows - 2 * steps_.radius)) /
                    rows_per_turn * rows_per_turn;
    job.bands = cuda::parts(shape_.height, job.band_rows);
    const auto blocks = static_cast<unsigned>(job.strips * job.bands * shape_.frames);
    const auto shared_bytes =
        sizeof(uint4) * warp_threads * static_cast<std::size_t>(job.band_rows + 2 * steps_.radius);
    const bool disc_15 = steps_ == steps_of_disc_15();
    const auto kernel = shape_.channels == 3 ? (disc_15 ? morphology_kernel<3, true> : morphology_kernel<3, false>)
                                             : (disc_15 ? morphology_kernel<1, true> : morphology_kernel<1, false>);
    return [=, executor = executor_](bool erodes, DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out) {
        auto phase = job;
        phase.in = cuda::KernelImage(in);
        phase.out = cuda::KernelImage(out);
        phase.in_aligned = phase.in.aligned_to(16);
        phase.out_aligned = phase.out.aligned_to(16);
        phase.flip = erodes ? ~0u : 0u;
        cuda::Launch(executor->stream(), blocks, threads_per_block, shared_bytes)(kernel, phase);
    };
}

// Launches each phase separately; erosion differs from dilation only in the complement.
void Morphology::run(const FilterImages<MemorySpace::device>& images) {
    validate(images.in, shape_, "morphology's image");
    validate(images.out, shape_, "morphology's result");
    if (phases_.count == 0) cuda::copy(images.in, images.out, executor_->stream());
    auto in = images.in;
    for (int index = 0; index < phases_.count; ++index) {
        // The last phase writes the result, the one before it the intermediate image, and so on, alternating.
        const auto to = (phases_.count - 1 - index) % 2 == 0 ? images.out : between_.view<MemorySpace::device>();
        phase_on_device_(phases_.erodes(index), in, to);
        in = to;
    }
}

}  // namespace framewire
