#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/gray_input.cuh"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>
#include <optional>

// Binarize on the GPU: up to three launches per batch.
//
//   histogram_kernel   image -> one histogram per frame        (not for a fixed level)
//   threshold_kernel   histogram -> one threshold per frame    (not for a fixed level)
//   binarize_kernel    image and threshold -> result

namespace framewire {
namespace binarize_kernels {
namespace {

// A batch as groups of 16 pixels. A frame without gaps between rows is treated as one long row.
struct Frames {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int row_px;
    unsigned groups_per_row, groups;  // `groups` is per frame
};

// Position and size of a group in its frame. Groups at the end of a row may have fewer than 16 pixels.
struct Group {
    // Row, first pixel, and number of pixels.
    int y, x, pixels;
};

// Returns the group with number `index` in its frame.
__device__ Group group_at(const Frames& frames, unsigned index) {
    const auto y = index / frames.groups_per_row;
    const auto x = static_cast<int>(index - y * frames.groups_per_row) * gray_group_px;
    return {static_cast<int>(y), x, min(gray_group_px, frames.row_px - x)};
}

// ---- The histogram ----

constexpr int histogram_threads = 512;

// Counts one frame's gray values. Grid: x covers the groups of a frame, y is the frame.
//
//   counts[bin * 32 + lane]   bin 0:  lane 0 | lane 1 | ... | lane 31
//                             bin 1:  lane 0 | lane 1 | ... | lane 31
//
// Each lane of a warp counts in its own histogram, which lies in a single shared memory bank, so the lanes of a warp
// never conflict, whatever the image contains. All warps of the block share the 32 histograms.
template <int channels, bool aligned>
__global__ void __launch_bounds__(histogram_threads)
    histogram_kernel(Frames frames, SplitWeights weights, std::uint32_t* histograms) {
    __shared__ std::uint32_t counts[256 * 32];
    for (int i = threadIdx.x; i < 256 * 32 / 4; i += histogram_threads) reinterpret_cast<uint4*>(counts)[i] = {};
    __syncthreads();

    const auto* in = frames.in.data + blockIdx.y * frames.in.frame_stride;
    auto* own = counts + threadIdx.x % 32;
    const auto load = [&](unsigned index, int& pixels) -> uint4 {
        pixels = 0;
        if (index >= frames.groups) return {};
        const auto group = group_at(frames, index);
        pixels = group.pixels;
        return load_gray_group<channels, aligned>(in + group.y * frames.in.row_stride + group.x * channels, pixels,
                                                  weights);
    };
    const auto step = gridDim.x * histogram_threads;
    int pixels, next_pixels;
    auto index = blockIdx.x * histogram_threads + threadIdx.x;
    auto gray = load(index, pixels);
    while (pixels > 0) {
        // Start the next load before counting this group, so that they overlap.
        index += step;
        const auto next = load(index, next_pixels);
        const std::uint32_t words[4] = {gray.x, gray.y, gray.z, gray.w};
        const auto count = [&](int pixel) { atomicAdd(own + (words[pixel / 4] >> (pixel % 4 * 8) & 255u) * 32, 1u); };
        if (pixels == gray_group_px) {
#pragma unroll
            for (int pixel = 0; pixel < gray_group_px; ++pixel) count(pixel);
        } else {
#pragma unroll
            for (int pixel = 0; pixel < gray_group_px; ++pixel)
                if (pixel < pixels) count(pixel);
        }
        gray = next;
        pixels = next_pixels;
    }
    __syncthreads();

    if (threadIdx.x < 256) {
        std::uint32_t sum = 0;
        // Every thread starts in a different bank.
        for (int i = 0; i < 32; ++i) sum += counts[threadIdx.x * 32 + (threadIdx.x + i) % 32];
        if (sum) atomicAdd(histograms + std::int64_t{blockIdx.y} * 256 + threadIdx.x, sum);
    }
}

// ---- The threshold: one block per frame, one thread per bin ----

constexpr int bins = 256;
constexpr int warps = bins / 32;

// Cumulative histogram at one bin: the number of pixels up to it and the sum of their values.
struct DarkPixels {
    // 64 bits, because an image may have up to 2^28 pixels with values up to 255.
    unsigned long long count, sum;

    __device__ friend DarkPixels operator+(const DarkPixels& a, const DarkPixels& b) {
        return {a.count + b.count, a.sum + b.sum};
    }
    __device__ friend DarkPixels operator-(const DarkPixels& a, const DarkPixels& b) {
        return {a.count - b.count, a.sum - b.sum};
    }
};

// Shared memory of threshold_kernel.
struct ThresholdMemory {
    // The frame's histogram, kept for otsu_sequence().
    std::uint32_t counts[bins];
    // Sums of counts and values up to each bin.
    cuda::BlockScan<DarkPixels, warps> dark;
    // Best bin of each warp, and its variance.
    int warp_bins[warps];
    double warp_variances[warps];
};

// Returns the maximum over the block. Uses the memory of the scan, which only otsu() needs.
__device__ unsigned long long block_max(unsigned long long value, ThresholdMemory& memory) {
    value = cuda::warp_joined(value, [](unsigned long long a, unsigned long long b) { return max(a, b); });
    __syncthreads();  // all threads have read the values of the previous call
    if (threadIdx.x % 32 == 0) memory.dark.warp_totals[threadIdx.x / 32].count = value;
    __syncthreads();
    for (int warp = 0; warp < warps; ++warp) value = max(value, memory.dark.warp_totals[warp].count);
    return value;
}

// Computes two_max_threshold() for the block; every thread gets the result.
__device__ int two_max(std::uint32_t count, ThresholdMemory& memory) {
    // The largest key belongs to the most frequent value, and among equally frequent ones to the darkest.
    const auto key = static_cast<unsigned long long>(count) << 8 | (255 - threadIdx.x);
    const auto first = block_max(key, memory);
    const auto second = block_max(key == first ? 0 : key, memory);
    const auto bin_of = [](unsigned long long of) { return 255 - static_cast<int>(of & 255); };
    return min(max((bin_of(first) + bin_of(second)) / 2, 50), 200);
}

// Returns Otsu's threshold at thread 0. All bins' variances are computed in parallel. OpenCV's sequence runs only if
// the best two are too close to be ordered, or if rounding decides which bins it skips.
__device__ int otsu(std::uint32_t count, ThresholdMemory& memory) {
    const auto lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const DarkPixels own{count, static_cast<unsigned long long>(count) * threadIdx.x};
    const auto in_warp = memory.dark.begin(own);
    __syncthreads();
    const auto [before, all] = memory.dark.end(in_warp);
    const auto dark = before + own;
    const auto candidate = otsu_candidate(dark.count, dark.sum, all.count, all.sum);

    // Reduce to the best bin of each warp, then of the block; among equal variances the lowest bin wins, as in the
    // sequence.
    double best = candidate.variance;
    int best_bin = threadIdx.x;
    for (int step = 16; step > 0; step /= 2) {
        const auto other = __shfl_xor_sync(~0u, best, step);
        const auto other_bin = __shfl_xor_sync(~0u, best_bin, step);
        if (other > best || (other == best && other_bin < best_bin)) {
            best = other;
            best_bin = other_bin;
        }
    }
    if (lane == 0) {
        memory.warp_variances[warp] = best;
        memory.warp_bins[warp] = best_bin;
    }
    __syncthreads();
    for (int other = 0; other < warps; ++other)
        if (memory.warp_variances[other] > best) {
            best = memory.warp_variances[other];
            best_bin = memory.warp_bins[other];
        }
    // The sequence starts with threshold 0 at variance 0, which is one more candidate to compare with.
    const bool close =
        candidate.variance >= 0 && best_bin != threadIdx.x && best - candidate.variance < otsu_uncertainty;
    const bool unclear = !candidate.certain || close || (best >= 0 && best < otsu_uncertainty);
    if (__syncthreads_or(unclear))
        return threadIdx.x == 0 ? otsu_sequence(memory.counts, static_cast<std::uint32_t>(all.count)) : 0;
    return best < 0 ? 0 : best_bin;
}

// Eight neighbouring bins of the smoothed histogram, held by one lane of a warp.
constexpr int bins_per_lane = 8;

// Bins of one lane, in ascending order.
struct LaneBins {
    std::uint32_t bin[bins_per_lane];
};

// Returns bit masks of the lane's bins that are higher (x) and lower (y) than the preceding bin. The first bin of the
// histogram counts as rising.
__device__ uint2 slopes(const LaneBins& own, int lane) {
    auto before = __shfl_up_sync(~0u, own.bin[bins_per_lane - 1], 1);
    std::uint32_t rises = 0, falls = 0;
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) {
        rises |= std::uint32_t{own.bin[i] > before || (i == 0 && lane == 0)} << i;
        falls |= std::uint32_t{own.bin[i] < before && (i > 0 || lane > 0)} << i;
        before = own.bin[i];
    }
    return {rises, falls};
}

// Returns true if the last change of height before this lane's bins was a rise. Takes the slopes of all lanes.
__device__ bool rising_before(uint2 slope, int lane, bool& rising_at_end) {
    const auto changing = __ballot_sync(~0u, (slope.x | slope.y) != 0);
    // Comparing the masks compares their highest bits: the last change.
    const auto rising = __ballot_sync(~0u, slope.x > slope.y);
    rising_at_end = rising >> (31 - __clz(static_cast<int>(changing))) & 1u;
    const auto before = changing & ((1u << lane) - 1);
    return before == 0 || (rising >> (31 - __clz(static_cast<int>(before))) & 1u);
}

// Returns the number of peaks in the histogram, at every lane: one for each fall that follows a rise, and one for a
// rise at the end.
__device__ int count_peaks(uint2 slope, int lane) {
    bool rising_at_end;
    bool rising = rising_before(slope, lane, rising_at_end);
    std::uint32_t peaks = 0;
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) {
        if (slope.y >> i & 1u) {
            peaks += rising;
            rising = false;
        } else if (slope.x >> i & 1u) {
            rising = true;
        }
    }
    int sum = rising_at_end;
#pragma unroll
    for (int bit = 0; bit < 3; ++bit) sum += __popc(__ballot_sync(~0u, peaks >> bit & 1u)) << bit;
    return sum;
}

// Returns the valley of a histogram with two peaks: the middle of the lowest bins between them, which start at the last
// fall before the second rise and end before that rise.
__device__ int valley(uint2 slope, int lane) {
    bool rising_at_end;
    bool rising = rising_before(slope, lane, rising_at_end);
    int bottom = -1, rise = bins;  // this lane's last fall; its first rise after a fall
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) {
        if (slope.y >> i & 1u) {
            if (rise == bins) bottom = lane * bins_per_lane + i;
            rising = false;
        } else if (slope.x >> i & 1u) {
            if (!rising && rise == bins) rise = lane * bins_per_lane + i;
            rising = true;
        }
    }
    rise = cuda::warp_joined(rise, [](int a, int b) { return min(a, b); });
    if (bottom > rise) bottom = -1;  // the lane is past the rise
    bottom = cuda::warp_joined(bottom, [](int a, int b) { return max(a, b); });
    return (bottom + rise - 1) / 2;
}

// Runs one smoothing pass, like smoothed() in binarize.cpp.
__device__ void smooth(LaneBins& own, int lane) {
    auto left = __shfl_up_sync(~0u, own.bin[bins_per_lane - 1], 1);
    auto right = __shfl_down_sync(~0u, own.bin[0], 1);
    if (lane == 0) left = own.bin[0];
    if (lane == 31) right = own.bin[bins_per_lane - 1];
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) {
        const auto next = i + 1 < bins_per_lane ? own.bin[i + 1] : right;
        const auto smoothed = (left + 2 * own.bin[i] + next + 2) >> 2;
        left = own.bin[i];
        own.bin[i] = smoothed;
    }
}

// Returns the valley at every lane of the first warp, or -1 if there is none. The other warps return -1 at once.
__device__ int two_peaks(ThresholdMemory& memory) {
    if (threadIdx.x >= 32) return -1;
    const int lane = threadIdx.x;
    LaneBins own;
    std::uint32_t pixels = 0;
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) pixels += own.bin[i] = memory.counts[lane * bins_per_lane + i];
    pixels = cuda::warp_sum(pixels);
    const int shift = two_peaks_bits - (32 - __clz(static_cast<int>(pixels)));
#pragma unroll
    for (int i = 0; i < bins_per_lane; ++i) own.bin[i] <<= shift;
    for (int pass = 0;; ++pass) {
        const auto slope = slopes(own, lane);
        const int peaks = count_peaks(slope, lane);
        if (peaks == 2) return valley(slope, lane);
        if (peaks < 2 || pass == two_peaks_most_passes) return -1;
        smooth(own, lane);
    }
}

// Computes a frame's threshold from its histogram, and clears the histogram for the next run.
__global__ void __launch_bounds__(bins)
    threshold_kernel(ThresholdMethod method, std::uint32_t* histograms, std::uint8_t* thresholds) {
    __shared__ ThresholdMemory memory;
    auto& in = histograms[std::int64_t{blockIdx.x} * bins + threadIdx.x];
    const auto count = in;
    in = 0;
    memory.counts[threadIdx.x] = count;
    __syncthreads();
    int threshold;
    if (method == ThresholdMethod::two_max) {
        threshold = two_max(count, memory);
    } else {
        const int valley = method == ThresholdMethod::two_peaks ? two_peaks(memory) : -1;
        threshold = __syncthreads_or(valley >= 0) ? valley : otsu(count, memory);
        if (method == ThresholdMethod::ink && threadIdx.x == 0) threshold = ink_threshold(memory.counts, threshold);
    }
    if (threadIdx.x == 0) thresholds[blockIdx.x] = static_cast<std::uint8_t>(threshold);
}

// ---- Applying the threshold ----

constexpr int binarize_threads = warp_store_threads;

// One thread per group of 16 pixels: reads them as gray values, compares four bytes per instruction, and writes 16 or
// 48 bytes.
template <int channels, bool aligned>
__global__ void __launch_bounds__(binarize_threads)
    binarize_kernel(Frames frames, SplitWeights weights, const std::uint8_t* thresholds) {
    const auto index = blockIdx.x * binarize_threads + threadIdx.x;
    if (index >= frames.groups) return;
    const auto group = group_at(frames, index);
    const auto* in =
        frames.in.data + blockIdx.y * frames.in.frame_stride + group.y * frames.in.row_stride + group.x * channels;
    auto* out =
        frames.out.data + blockIdx.y * frames.out.frame_stride + group.y * frames.out.row_stride + group.x * channels;
    const auto threshold = thresholds[blockIdx.y] * 0x01010101u;
    const auto gray = load_gray_group<channels, aligned>(in, group.pixels, weights);
    const uint4 white{__vcmpgtu4(gray.x, threshold), __vcmpgtu4(gray.y, threshold), __vcmpgtu4(gray.z, threshold),
                      __vcmpgtu4(gray.w, threshold)};
    if (aligned && group.pixels == gray_group_px)
        return store_gray(white, channels, is_whole_warp(group.x, frames.row_px), out);
    const std::uint32_t words[4] = {white.x, white.y, white.z, white.w};
#pragma unroll
    for (int pixel = 0; pixel < gray_group_px; ++pixel)
        if (pixel < group.pixels)
            for (int channel = 0; channel < channels; ++channel)
                out[pixel * channels + channel] = static_cast<std::uint8_t>(words[pixel / 4] >> (pixel % 4 * 8));
}

// Returns the number of blocks per frame: enough to fill a large GPU several times, but few enough that clearing and
// summing a block's histograms costs little per pixel.
unsigned histogram_blocks(const Frames& frames, int frame_count) {
    constexpr unsigned wanted = 1024, least_groups = histogram_threads;
    const auto each = std::max(1u, wanted / static_cast<unsigned>(frame_count));
    return std::clamp(frames.groups / least_groups, 1u, each);
}

// Queues the launches for a number of frames that fits a grid.
template <int channels, bool aligned>
void launch(const Frames& frames, int frame_count, std::optional<ThresholdMethod> method, std::uint32_t* histograms,
            std::uint8_t* thresholds, const cuda::Stream& stream) {
    const auto weights = split(gray_weights(GrayMethod::weighted));
    const auto grid_frames = static_cast<unsigned>(frame_count);
    if (method) {
        const dim3 grid(histogram_blocks(frames, frame_count), grid_frames);
        cuda::Launch(stream, grid, histogram_threads)(histogram_kernel<channels, aligned>, frames, weights, histograms);
        cuda::Launch(stream, grid_frames, bins)(threshold_kernel, *method, histograms, thresholds);
    }
    const dim3 grid(cuda::blocks(frames.groups, binarize_threads), grid_frames);
    cuda::Launch(stream, grid, binarize_threads)(binarize_kernel<channels, aligned>, frames, weights, thresholds);
}

}  // namespace
}  // namespace binarize_kernels

// Treats a frame without gaps as one row, so that groups of 16 pixels are cut off only at its end.
void Binarize::run(const FilterImages<MemorySpace::device>& images) {
    using namespace binarize_kernels;
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    const bool dense_rows = images.in.dense_rows() && images.out.dense_rows();
    const auto one_row = dense_rows ? cuda::OneRow::frame : cuda::OneRow::none;
    const int rows = dense_rows ? 1 : shape_.height;
    Frames frames{cuda::KernelImage(images.in, one_row), cuda::KernelImage(images.out, one_row),
                  dense_rows ? shape_.height * shape_.width : shape_.width, 0, 0};
    frames.groups_per_row = cuda::blocks(frames.row_px, gray_group_px);
    frames.groups = frames.groups_per_row * static_cast<unsigned>(rows);
    const bool aligned = frames.in.aligned_to(16) && frames.out.aligned_to(16);
    const auto& stream = executor_->stream();
    cuda::for_frames(shape_.frames, 1, [&](int first, int count) {
        auto part = frames;
        part.in = frames.in.from_frame(first);
        part.out = frames.out.from_frame(first);
        auto* histograms = histograms_.as<std::uint32_t>() + std::int64_t{first} * bins;
        auto* thresholds = thresholds_.data() + first;
        const auto launch_part = [&](auto* launcher) {
            launcher(part, count, parameters_.method, histograms, thresholds, stream);
        };
        if (shape_.channels == 3)
            launch_part(aligned ? launch<3, true> : launch<3, false>);
        else
            launch_part(aligned ? launch<1, true> : launch<1, false>);
    });
    has_run_ = true;
}

}  // namespace framewire

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
    int left;           // columns left of a strip, except the first, that only its windows read; more than the radius
    int band_rows;
    bool out_words;  // true if every row of the result starts at an address that is a multiple of 4
    float k;
};

// Shared memory layout of the prefix sums: thread by thread, with two places of padding after each thread's eight
// columns. Eight threads that write two columns each then use different banks.
constexpr int thread_places = columns_per_thread + 2;
// Places before the first column, filled with zeros, for windows that start there.
constexpr int zero_columns = max_radius + 1;
static_assert(zero_columns % columns_per_thread == 0);

// Shared memory of a block. Threads without a result read the padding after the columns and discard the values.
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

    // Loads the pixels starting at `x`. Pixels beyond the image's width are set to 128.
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

    // Returns the eight gray values, one per byte.
    __device__ uint2 gray(const SplitWeights& weights) const {
        if constexpr (channels == 1)
            return {words[0], words[1]};
        else
            return {gray_of_four(words[0], words[1], words[2], weights),
                    gray_of_four(words[3], words[4], words[5], weights)};
    }
};

// Returns byte `byte`, 0 to 7, of `eight`.
__device__ int byte_of(const uint2& eight, int byte) {
    return static_cast<int>((byte < 4 ? eight.x : eight.y) >> (byte % 4 * 8) & 255);
}

// Returns the correctly rounded quotient `number` / `by`, given the reciprocal of `by`. The remainder of a quotient
// that is off by one unit in the last place is exact, so one FMA corrects it (Brisebarre, Muller and Raina,
// "Accelerating correctly rounded floating-point division when the divisor is known in advance", 2004).
__device__ float divide(float number, float by, float reciprocal) {
    const float quotient = __fmul_rn(number, reciprocal);
    return __fmaf_rn(__fmaf_rn(-quotient, by, number), reciprocal, quotient);
}

// Returns the correctly rounded square root of a number that is at least 2^-101.
__device__ float root_of(float number) {
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(number));
    const float root = __fmul_rn(number, inverse);
    return __fmaf_rn(__fmaf_rn(-root, root, number), __fmul_rn(inverse, 0.5f), root);
}

// Computes sauvola_threshold() bit for bit, without branches. A variance below 1e-30 is raised to 1e-30, which gives
// the same threshold as a variance of 0.
__device__ float threshold_of(const WindowSums& sums, float pixels, float reciprocal, float k) {
    const float mean = divide(__int2float_rn(sums.values), pixels, reciprocal);
    const float square = divide(__int2float_rn(sums.squares), pixels, reciprocal);
    const float variance = fmaxf(__fsub_rn(square, __fmul_rn(mean, mean)), 1e-30f);
    const float contrast = __fmaf_rn(root_of(variance), 1.0f / 128, -1.0f);
    return __fmul_rn(__fadd_rn(mean, 128.0f), __fadd_rn(1.0f, __fmul_rn(k, contrast)));
}

// Stores the first `pixels` of a warp's 32 BGR pixels: white if the pixel's bit in `whites` is set, otherwise black.
__device__ void store_bgr(std::uint8_t* to, std::uint32_t whites, int pixels, bool words) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (words && pixels == 32) {
        if (lane >= 24) return;
        // A word holds bytes of two pixels: three, two or one byte of the first pixel and the rest of the second.
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
    // Add up the first window's rows, except for its last row, which enters below.
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
        // Scan the threads' totals; every thread then adds the total of the columns before its own.
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
    const std::int64_t at_once = (colour ? 2 : 3) * cuda::limits().multiprocessors;
    const int bands = best_bands(shape_.height, parameters_.window / 5, std::int64_t{strips} * shape_.frames, at_once);
    job.band_rows = cuda::parts(shape_.height, bands);
    // Rows that all start at a multiple of 8 bytes are read in words.
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
