#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/filters/binarize/binarize.hpp"
#include "framewire/filters/binarize/otsu.hpp"
#include "framewire/filters/gray_input/gray_groups.cuh"

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

// A batch as groups of 16 pixels. A frame without gaps between rows counts as one long row.
struct Frames {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int row_px;
    unsigned groups_per_row, groups;  // groups: per frame
};

// Position of a group in its frame; fewer than 16 pixels at the end of a row.
struct Group {
    // Row, first pixel, and number of pixels.
    int y, x, pixels;
};

// The group with number `index` in its frame.
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
// Each lane of a warp counts in a histogram of its own, which lies in one shared memory bank, so the lanes of a warp
// never conflict, whatever the image holds. All warps of the block share the 32 histograms.
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

// Number of pixels in the bins up to one bin, and the sum of their values.
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

// Maximum over the block. Uses the memory of the scan, which only otsu() needs.
__device__ unsigned long long block_max(unsigned long long value, ThresholdMemory& memory) {
    value = cuda::warp_joined(value, [](unsigned long long a, unsigned long long b) { return max(a, b); });
    __syncthreads();  // the values of the previous call have been read
    if (threadIdx.x % 32 == 0) memory.dark.warp_totals[threadIdx.x / 32].count = value;
    __syncthreads();
    for (int warp = 0; warp < warps; ++warp) value = max(value, memory.dark.warp_totals[warp].count);
    return value;
}

// two_max_threshold() over the block, at every thread.
__device__ int two_max(std::uint32_t count, ThresholdMemory& memory) {
    // The largest key belongs to the most frequent value, and among equally frequent ones to the darkest.
    const auto key = static_cast<unsigned long long>(count) << 8 | (255 - threadIdx.x);
    const auto first = block_max(key, memory);
    const auto second = block_max(key == first ? 0 : key, memory);
    const auto bin_of = [](unsigned long long of) { return 255 - static_cast<int>(of & 255); };
    return min(max((bin_of(first) + bin_of(second)) / 2, 50), 200);
}

// Otsu's threshold, at thread 0. All bins' variances are computed in parallel. OpenCV's sequence runs only if the best
// two are too close to order, or if rounding decides which bins it skips.
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

// The lane's bins, in ascending order.
struct LaneBins {
    std::uint32_t bin[bins_per_lane];
};

// Bit masks of the lane's bins that are higher (x) and lower (y) than the preceding bin. The first bin of the histogram
// counts as rising.
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

// Number of peaks in the histogram, at every lane: falls that follow a rise, and a rise at the end.
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

// The valley of a histogram with two peaks: the middle between the last fall before the only rise that follows a fall,
// and that rise.
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
    if (bottom > rise) bottom = -1;  // the lane lies behind the rise
    bottom = cuda::warp_joined(bottom, [](int a, int b) { return max(a, b); });
    return (bottom + rise - 1) / 2;
}

// One smoothing pass, as smoothed() in threshold.cpp.
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

// The valley, at every lane of the first warp; -1 if there is none. The other warps return at once.
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

// Number of blocks per frame: enough to fill a large GPU several times, but few enough that clearing and summing a
// block's histograms costs little per pixel.
unsigned histogram_blocks(const Frames& frames, int frame_count) {
    constexpr unsigned wanted = 1024, least_groups = histogram_threads;
    const auto each = std::max(1u, wanted / static_cast<unsigned>(frame_count));
    return std::clamp(frames.groups / least_groups, 1u, each);
}

// Queues the launches for as many frames as fit a grid.
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
