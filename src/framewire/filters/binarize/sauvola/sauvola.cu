#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/filters/binarize/sauvola/sauvola.hpp"
#include "framewire/filters/gray_input/gray_groups.cuh"
#include "framewire/filters/kernel/warp_strips.cuh"

#include <algorithm>
#include <cstdint>

// Sauvola's threshold in one launch. A block walks down a strip of columns, as wide as most images are:
//
//   registers       thread t keeps the sums of columns 8t .. 8t+7 over the window's rows
//                   per row of results: the entering row is added, the leaving one subtracted
//   block scan      prefix sums over the columns, written to shared memory
//   shared memory   prefix[x + radius] - prefix[x - radius - 1] = the window's sums at column x
//
// The work per pixel therefore does not depend on the window. Pixels outside the image count as 128, which adds nothing
// to sums of value - 128.

namespace framewire {
namespace sauvola_kernels {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int columns_per_thread = 8;
constexpr int columns_per_block = threads_per_block * columns_per_thread;
constexpr int max_radius = max_sauvola_window / 2;

// Everything that a launch needs; passed as a kernel parameter.
struct Job {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    // Size of the image, and radius of the window.
    int height, width, radius;
    int strip_columns;  // columns of results per strip
    int left;  // columns before a strip that only feed its windows (except the first strip): more than the radius
    int band_rows;
    bool out_words;  // every row of the result starts at a multiple of 4
    float k;
};

// Shared memory layout of the prefix sums: thread by thread, with two places of padding after each thread's eight
// columns. Eight threads that write two columns each then use different banks.
constexpr int thread_places = columns_per_thread + 2;
// Places before the first column, filled with zeros, for windows that start there.
constexpr int zero_columns = max_radius + 1;
static_assert(zero_columns % columns_per_thread == 0);

// The padding after the columns is read by threads without a result of their own, which discard the values.
struct alignas(16) Memory {
    WindowSums prefix[(3 * zero_columns + columns_per_block) / columns_per_thread * thread_places];
    std::uint8_t gray[columns_per_block + zero_columns];  // gray values of the row of results
    cuda::BlockScan<WindowSums, warps_per_block> scan;
};

// Index in Memory::prefix of the prefix sum that includes `column`.
__device__ int place_of(int column) {
    column += zero_columns;
    return column / columns_per_thread * thread_places + column % columns_per_thread;
}

// Eight neighbouring pixels of a row, one thread's share, in their memory layout.
template <int channels>
struct Pixels {
    std::uint32_t words[2 * channels];

    // Loads the pixels from `x` on. Pixels beyond the image's width are set to 128.
    template <bool aligned>
    __device__ void load(const std::uint8_t* row, int x, int width) {
        if (aligned && x + columns_per_thread <= width) {
            const auto* two = reinterpret_cast<const uint2*>(row + x * channels);
#pragma unroll
            for (int at = 0; at < channels; ++at) {
                const auto loaded = __ldg(two + at);
                words[2 * at] = loaded.x;
                words[2 * at + 1] = loaded.y;
            }
            return;
        }
        set_outside();
        if (x >= width) return;
#pragma unroll
        for (int byte = 0; byte < columns_per_thread * channels; ++byte)
            if (x * channels + byte < width * channels)
                words[byte / 4] = words[byte / 4] & ~(255u << (byte % 4 * 8)) |
                                  static_cast<std::uint32_t>(row[x * channels + byte]) << (byte % 4 * 8);
    }

    // Sets every byte to 128, the value that adds nothing.
    __device__ void set_outside() {
#pragma unroll
        for (auto& word : words) word = 0x80808080;
    }

    // The eight gray values, one per byte.
    __device__ uint2 gray(const SplitWeights& weights) const {
        if constexpr (channels == 1)
            return {words[0], words[1]};
        else
            return {gray_of_four(words[0], words[1], words[2], weights),
                    gray_of_four(words[3], words[4], words[5], weights)};
    }
};

// Byte `byte` of eight.
__device__ int byte_of(const uint2& eight, int byte) {
    return static_cast<int>((byte < 4 ? eight.x : eight.y) >> (byte % 4 * 8) & 255);
}

// Correctly rounded division by a number with a known reciprocal. The remainder of a quotient that is off by one unit
// in the last place is exact, so one FMA corrects it (Brisebarre, Muller and Raina, "Accelerating correctly rounded
// floating-point division when the divisor is known in advance", 2004).
__device__ float divide(float number, float by, float reciprocal) {
    const float quotient = __fmul_rn(number, reciprocal);
    return __fmaf_rn(__fmaf_rn(-quotient, by, number), reciprocal, quotient);
}

// Correctly rounded square root of a number that is at least 2^-101.
__device__ float root_of(float number) {
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(number));
    const float root = __fmul_rn(number, inverse);
    return __fmaf_rn(__fmaf_rn(-root, root, number), __fmul_rn(inverse, 0.5f), root);
}

// sauvola_threshold(), bit for bit and without branches. A variance below 1e-30 is raised to that value, which gives
// the same threshold as none.
__device__ float threshold_of(const WindowSums& sums, float pixels, float reciprocal, float k) {
    const float mean = divide(__int2float_rn(sums.values), pixels, reciprocal);
    const float square = divide(__int2float_rn(sums.squares), pixels, reciprocal);
    const float variance = fmaxf(__fsub_rn(square, __fmul_rn(mean, mean)), 1e-30f);
    const float contrast = __fmaf_rn(root_of(variance), 1.0f / 128, -1.0f);
    return __fmul_rn(__fadd_rn(mean, 128.0f), __fadd_rn(1.0f, __fmul_rn(k, contrast)));
}

// Stores 32 BGR pixels of a result by one warp: white if the pixel's bit in `whites` is set. Only the first `pixels`
// are stored.
__device__ void store_bgr(std::uint8_t* to, std::uint32_t whites, int pixels, bool words) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (words && pixels == 32) {
        if (lane >= 24) return;
        // A word holds bytes of two pixels: three, two or one of the first.
        const int first = 4 * lane / 3;
        const auto of_first = 0xffffffu >> (8 * (lane % 3));
        const auto bits = whites >> first;
        reinterpret_cast<std::uint32_t*>(to)[lane] = (bits & 1 ? of_first : 0) | (bits & 2 ? ~of_first : 0);
        return;
    }
    for (int byte = lane; byte < 3 * pixels; byte += 32) to[byte] = whites >> (byte / 3) & 1 ? 255 : 0;
}

// Grid: x covers strips, y bands of rows, z frames. Each block first sums the rows above its band, then writes one row
// of results per iteration:
//   1. columns += entering row - leaving row        (own eight columns, in registers)
//   2. scan over the block, prefix sums to shared memory
//   3. start the loads for the next row
//   4. window sums -> threshold -> white or black   (columns x, x + 256, ... of the strip)
template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block, channels == 1 ? 3 : 2)
    sauvola_kernel(__grid_constant__ const Job job, SplitWeights weights) {
    __shared__ uint4 shared[sizeof(Memory) / sizeof(uint4)];
    auto& memory = *reinterpret_cast<Memory*>(shared);

    const int strip = static_cast<int>(blockIdx.x) * job.strip_columns;
    const int strip_end = min(strip + job.strip_columns, job.width);
    const int begin = static_cast<int>(blockIdx.y) * job.band_rows;
    const int end = min(begin + job.band_rows, job.height);
    const int first_column = strip == 0 ? 0 : strip - job.left;
    const int own_column = first_column + static_cast<int>(threadIdx.x) * columns_per_thread;
    const auto* in = job.in.data + blockIdx.z * job.in.frame_stride;
    auto* out = job.out.data + blockIdx.z * job.out.frame_stride;

    // Clear the places before the first column.
    for (int at = static_cast<int>(threadIdx.x); at < zero_columns / columns_per_thread * thread_places;
         at += threads_per_block)
        memory.prefix[at] = {};

    // Rows outside the image count as 128.
    const auto load = [&](Pixels<channels>& pixels, int y) {
        if (y < 0 || y >= job.height)
            pixels.set_outside();
        else
            pixels.template load<aligned>(in + y * job.in.row_stride, own_column, job.width);
    };
    // Add up the rows above the band that the first window contains, except for the last row that enters.
    WindowSums columns[columns_per_thread] = {};
    const int above_end = min(begin + job.radius, job.height);
#pragma unroll 4
    for (int y = max(begin - job.radius, 0); y < above_end; ++y) {
        Pixels<channels> pixels;
        pixels.template load<aligned>(in + y * job.in.row_stride, own_column, job.width);
        const auto gray = pixels.gray(weights);
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) {
            const int value = byte_of(gray, i) - 128;
            columns[i] = columns[i] + WindowSums{value, value * value};
        }
    }

    Pixels<channels> entering, leaving, middle;
    load(entering, begin + job.radius);
    leaving.set_outside();
    load(middle, begin);

    // For the results a thread takes every 256th column, so that neighbouring threads access neighbouring columns:
    // shared memory accesses have no bank conflicts and global stores are coalesced.
    const int x = strip + static_cast<int>(threadIdx.x), in_block = x - first_column;
    const auto* right = memory.prefix + place_of(in_block + job.radius);
    const auto* left = memory.prefix + place_of(in_block - job.radius - 1);
    float window_px[columns_per_thread], reciprocal[columns_per_thread];
    int window_rows = 0;
    for (int y = begin; y < end; ++y) {
        const auto in_gray = entering.gray(weights), out_gray = leaving.gray(weights);
        WindowSums up_to[columns_per_thread];
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) {
            const int plus = byte_of(in_gray, i), minus = byte_of(out_gray, i);
            columns[i] = columns[i] + WindowSums{plus - minus, (plus - minus) * (plus + minus - 256)};
            up_to[i] = i == 0 ? columns[0] : up_to[i - 1] + columns[i];
        }
        // Scan the threads' totals; every thread then adds what lies before its own columns.
        const auto in_warp = memory.scan.begin(up_to[columns_per_thread - 1]);
        __syncthreads();
        const auto before = memory.scan.end(in_warp).before;
        auto* places =
            reinterpret_cast<int4*>(memory.prefix + place_of(static_cast<int>(threadIdx.x) * columns_per_thread));
#pragma unroll
        for (int i = 0; i < columns_per_thread; i += 2) {
            const auto one = before + up_to[i], two = before + up_to[i + 1];
            places[i / 2] = {one.values, one.squares, two.values, two.squares};
        }
        reinterpret_cast<uint2*>(memory.gray)[threadIdx.x] = middle.gray(weights);
        __syncthreads();
        if (y + 1 < end) {
            load(entering, y + 1 + job.radius);
            load(leaving, y - job.radius);
            load(middle, y + 1);
        }

        // The number of pixels in a window changes only near the upper and lower edges, so its reciprocal is kept.
        const int rows = min(y + job.radius + 1, job.height) - max(y - job.radius, 0);
        if (rows != window_rows) {
            window_rows = rows;
#pragma unroll
            for (int at = 0; at < columns_per_thread; ++at) {
                const int middle_x = x + at * threads_per_block;
                const int in_row = min(middle_x + job.radius + 1, job.width) - max(middle_x - job.radius, 0);
                window_px[at] = static_cast<float>(rows * max(in_row, 1));
                reciprocal[at] = __frcp_rn(window_px[at]);
            }
        }
        auto* to = out + y * job.out.row_stride;
        // Compare the gray values of this row with their thresholds.
        bool white[columns_per_thread];
#pragma unroll
        for (int at = 0; at < columns_per_thread; ++at) {
            constexpr int places_apart = threads_per_block / columns_per_thread * thread_places;
            const float threshold =
                threshold_of(right[at * places_apart] - left[at * places_apart], window_px[at], reciprocal[at], job.k);
            white[at] = static_cast<float>(memory.gray[in_block + at * threads_per_block]) > threshold;
        }
#pragma unroll
        for (int at = 0; at < columns_per_thread; ++at) {
            const int column = x + at * threads_per_block;
            if constexpr (channels == 1) {
                if (column < strip_end) to[column] = white[at] ? 255 : 0;
            } else {
                // The 32 pixels of a warp are adjacent, so one ballot collects them.
                const int warp_x = column - static_cast<int>(threadIdx.x) % 32;
                const auto whites = __ballot_sync(~0u, white[at]);
                if (warp_x < strip_end)
                    store_bgr(to + warp_x * channels, whites, min(strip_end - warp_x, 32), job.out_words);
            }
        }
    }
}

}  // namespace
}  // namespace sauvola_kernels

// Chooses strips as wide as a block allows and enough bands to occupy the GPU; both are fixed for the plan.
FilterOnDevice Sauvola::plan_for_cuda() const {
    using namespace sauvola_kernels;
    const int radius = parameters_.window / 2;
    Job job{.height = shape_.height,
            .width = shape_.width,
            .radius = radius,
            .strip_columns = columns_per_block,
            .left = cuda::parts(radius + 1, columns_per_thread) * columns_per_thread,
            .k = static_cast<float>(parameters_.k)};
    if (shape_.width + radius > columns_per_block)
        job.strip_columns = (columns_per_block - job.left - radius) / columns_per_thread * columns_per_thread;
    const int strips = cuda::parts(shape_.width, job.strip_columns);
    const bool colour = shape_.channels == 3;
    // A row above a band, which is only added up, takes about a fifth of the time of a row with results.
    const std::int64_t at_once = (colour ? 2 : 3) * cuda::multiprocessors();
    const int bands = best_bands(shape_.height, parameters_.window / 5, std::int64_t{strips} * shape_.frames, at_once);
    job.band_rows = cuda::parts(shape_.height, bands);
    // Rows that start at a multiple of 8 are read in words.
    const auto words_kernel = colour ? sauvola_kernel<3, true> : sauvola_kernel<1, true>;
    const auto bytes_kernel = colour ? sauvola_kernel<3, false> : sauvola_kernel<1, false>;
    return [=, weights = split(gray_weights(GrayMethod::weighted)),
            executor = executor_](const FilterImages<MemorySpace::device>& images) {
        const cuda::KernelImage in(images.in);
        const cuda::KernelImage out(images.out);
        const auto kernel = in.aligned_to(8) ? words_kernel : bytes_kernel;
        cuda::for_frames(images.in.shape().frames, 1, [&](int first, int frames) {
            auto part = job;
            part.in = in.from_frame(first);
            part.out = out.from_frame(first);
            part.out_words = out.aligned_to(4);
            const dim3 grid(static_cast<unsigned>(strips), cuda::blocks(part.height, part.band_rows),
                            static_cast<unsigned>(frames));
            cuda::Launch(executor->stream(), grid, threads_per_block)(kernel, part, weights);
        });
    };
}

void Sauvola::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    on_device_(images);
}

}  // namespace framewire
