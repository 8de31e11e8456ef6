#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/detect/stabiliser.hpp"

#include <cstdint>

// The stabiliser on the GPU. Per batch:
//
//     frames -> small_kernel -> small images -> estimate_kernel -> shifts -> shift_kernel -> shifted frames
//                                                  |     ^
//                                              reference, state
//
// Frames must be estimated one after the other, since each renews the reference. One block does so for the whole batch,
// so that no launch and no copy to the host comes in between.

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
constexpr int estimate_threads = 1024;
constexpr int estimate_warps = estimate_threads / 32;

// Each thread makes a pixel of a small image.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    small_kernel(StabiliserLayout layout, cuda::KernelImage<const std::uint8_t> frames, std::int64_t pixels,
                 std::uint16_t* small) {
    const auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    if (index >= pixels) return;
    const int frame = static_cast<int>(index / layout.pixels()), pixel = static_cast<int>(index % layout.pixels());
    const int left = pixel % layout.width * layout.factor, top = pixel / layout.width * layout.factor;
    std::uint32_t sums[channels]{};
    for (int y = top; y < top + layout.factor; ++y) {
        const auto* from = frames.row(frame, y) + left * channels;
        for (int x = 0; x < layout.factor; ++x)
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) sums[channel] += __ldg(from++);
    }
    small[index] = small_pixel(sums[0], sums[channels == 3 ? 1 : 0], sums[channels == 3 ? 2 : 0], layout.scale());
}

// Data that the threads of estimate_kernel share.
struct Shared {
    std::uint32_t histogram[stabiliser_histogram_size];
    unsigned long long best, total;  // key of the search; cost of all candidates
    FitSums sums[estimate_warps];
    StillDifferences expected;
    SmallShift begin, shift;
    bool improved, trusted;
    int weight;
    StabiliserState state;
};

// Calls body(x, y) for the pixels of an image inside of a margin, in rows of which one in `row_step` counts.
template <class Body>
__device__ void for_pixels(int width, int height, int margin, int row_step, Body&& body) {
    const int columns = width - 2 * margin, rows = (height - 2 * margin + row_step - 1) / row_step;
    for (int i = static_cast<int>(threadIdx.x); i < columns * rows; i += estimate_threads)
        body(margin + i % columns, margin + i / columns * row_step);
}

// Makes a coarse image from values in the units of small images.
template <class Value>
__device__ void make_coarse(const StabiliserLayout& layout, const std::uint16_t* pixels, Value&& value,
                            std::int16_t* to) {
    constexpr int factor = StabiliserLayout::coarse_factor;
    for_pixels(layout.coarse_width, layout.coarse_height, 0, 1, [&](int x, int y) {
        int sum = factor * factor / 2;
        for (int dy = 0; dy < factor; ++dy)
            for (int dx = 0; dx < factor; ++dx)
                sum += value(pixels[(y * factor + dy) * layout.width + x * factor + dx]);
        to[y * layout.coarse_width + x] = static_cast<std::int16_t>(sum / (factor * factor));
    });
}

// Tries the displacements in whole coarse pixels, one per warp at a time.
__device__ void search(const StabiliserLayout& layout, const std::int16_t* now, const std::int16_t* still,
                       unsigned long long& best, unsigned long long& total) {
    constexpr int margin = stabiliser_search_margin, side = 2 * stabiliser_search_px + 1;
    const int width = layout.coarse_width, lane = static_cast<int>(threadIdx.x) % 32;
    const int columns = width - 2 * margin, count = columns * (layout.coarse_height - 2 * margin);
    for (int candidate = static_cast<int>(threadIdx.x) / 32; candidate < stabiliser_candidates;
         candidate += estimate_warps) {
        const int offset = (candidate / side - stabiliser_search_px) * width + candidate % side - stabiliser_search_px;
        std::uint32_t cost = 0;
        for (int i = lane; i < count; i += 32) {
            const int at = (margin + i / columns) * width + margin + i % columns;
            cost += static_cast<std::uint32_t>(gradient_difference(now + at + offset, still + at, width));
        }
        cost = cuda::warp_sum(cost);
        if (lane == 0) {
            atomicMin(&best, static_cast<unsigned long long>(search_key(cost, candidate)));
            atomicAdd(&total, static_cast<unsigned long long>(cost));
        }
    }
}

// The small image of a frame, displaced, beside the reference.
struct Comparison {
    const StabiliserLayout& layout;
    const std::uint16_t* now;
    const std::uint16_t* reference;
    Displacement displacement;

    __device__ int moved(int x, int y) const {
        const auto* row = now + (y + displacement.y) * layout.width + displacement.x;
        return interpolated(row, row + layout.width, x, displacement.fraction_x, displacement.fraction_y);
    }
    __device__ int still(int x, int y) const { return still_pixel(reference[y * layout.width + x]); }
    __device__ int difference(int x, int y) const { return moved(x, y) - still(x, y); }
};

// Counts the differences of some rows.
__device__ void fill_histogram(const Comparison& images, std::uint32_t* histogram) {
    for (int place = static_cast<int>(threadIdx.x); place < stabiliser_histogram_size; place += estimate_threads)
        histogram[place] = 0;
    __syncthreads();
    for_pixels(images.layout.width, images.layout.height, images.displacement.margin, stabiliser_histogram_rows,
               [&](int x, int y) { atomicAdd(&histogram[histogram_place(images.difference(x, y))], 1u); });
    __syncthreads();
}

// Writes the sums of a round, one per warp. Those of a thread fit 32 bits: it has at most 512 * 384 / 1024 pixels.
__device__ void sum_fit(const Comparison& images, const StillDifferences& expected, int round, FitSums* sums) {
    int xx = 0, xy = 0, yy = 0, xr = 0, yr = 0, fitting = 0;
    for_pixels(images.layout.width, images.layout.height, images.displacement.margin, 1, [&](int x, int y) {
        const int difference = images.difference(x, y) - expected.median;
        const int gradient_x = images.still(x + 1, y) - images.still(x - 1, y);
        const int gradient_y = images.still(x, y + 1) - images.still(x, y - 1);
        if (!fits(difference, gradient_x, gradient_y, expected.tolerance, round)) return;
        xx += gradient_x * gradient_x;
        xy += gradient_x * gradient_y;
        yy += gradient_y * gradient_y;
        xr += gradient_x * difference;
        yr += gradient_y * difference;
        ++fitting;
    });
    const auto sum = [](int of_thread) { return cuda::warp_sum(std::int64_t{of_thread}); };
    const FitSums of_warp{sum(xx), sum(xy), sum(yy), sum(xr), sum(yr), sum(fitting)};
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
}

// Refines shared.shift by rounds of least squares and sets shared.trusted. Called by all threads, after a barrier.
__device__ void fit(const StabiliserLayout& layout, const std::uint16_t* now, const std::uint16_t* reference,
                    Shared& shared) {
    for (int round = 0; round < stabiliser_rounds; ++round) {
        const Comparison images{layout, now, reference, Displacement(shared.shift)};
        fill_histogram(images, shared.histogram);
        if (threadIdx.x == 0) shared.expected = still_differences(shared.histogram);
        __syncthreads();
        sum_fit(images, shared.expected, round, shared.sums);
        __syncthreads();
        if (threadIdx.x == 0) {
            FitSums all;
            for (const auto& of_warp : shared.sums) all += of_warp;
            const int margin = images.displacement.margin;
            const auto compared = std::int64_t{layout.width - 2 * margin} * (layout.height - 2 * margin);
            shared.improved = improve(shared.shift, all);
            shared.trusted = shared.improved && is_trusted(shared.begin, shared.shift, all.fitting, compared);
        }
        __syncthreads();
        if (!shared.improved) return;
    }
}

// Adds the displaced image to the reference, or replaces the reference.
__device__ void renew(const StabiliserLayout& layout, const std::uint16_t* now, SmallShift shift, int weight,
                      std::uint16_t* reference) {
    if (weight == whole_weight) {
        for (int i = static_cast<int>(threadIdx.x); i < layout.pixels(); i += estimate_threads)
            reference[i] = static_cast<std::uint16_t>(now[i] << reference_fraction_bits);
        return;
    }
    const Comparison images{layout, now, reference, Displacement(shift)};
    for_pixels(layout.width, layout.height, images.displacement.margin, 1, [&](int x, int y) {
        auto& pixel = reference[y * layout.width + x];
        pixel = renewed(pixel, images.moved(x, y), weight);
    });
}

// Estimates the shifts of all frames in one block. `coarse` is scratch memory for two images.
__global__ void __launch_bounds__(estimate_threads)
    estimate_kernel(StabiliserLayout layout, int frames, const std::uint16_t* small, std::uint16_t* reference,
                    std::int16_t* coarse, StabiliserState* state, CameraShift* shifts) {
    // Raw memory, because variables in shared memory cannot have initialisers.
    alignas(Shared) __shared__ unsigned char memory[sizeof(Shared)];
    auto& shared = *reinterpret_cast<Shared*>(memory);
    auto* still = coarse + layout.coarse_pixels();
    if (threadIdx.x == 0) shared.state = *state;
    for (int frame = 0; frame < frames; ++frame) {
        const auto* now = small + std::int64_t{frame} * layout.pixels();
        if (threadIdx.x == 0) {
            shared.best = ~0ull;
            shared.total = 0;
            shared.begin = shared.shift = {};
            shared.trusted = false;
        }
        __syncthreads();
        const bool has_reference = shared.state.seen > 0;
        __syncthreads();  // one thread changes the state below
        if (has_reference) {
            make_coarse(
                layout, now, [](int value) { return value; }, coarse);
            make_coarse(
                layout, reference, [](std::uint16_t value) { return still_pixel(value); }, still);
            __syncthreads();
            search(layout, coarse, still, shared.best, shared.total);
            __syncthreads();
            if (threadIdx.x == 0) shared.begin = shared.shift = searched_shift(shared.best);
            __syncthreads();
            if (is_match(shared.best, shared.total)) fit(layout, now, reference, shared);
        }
        if (threadIdx.x == 0) {
            shared.weight = conclude(shared.state, shared.shift, shared.trusted, layout.factor);
            shifts[frame] = shared.state.shift;
        }
        __syncthreads();
        if (shared.weight > 0) renew(layout, now, shared.shift, shared.weight, reference);
        __syncthreads();
    }
    if (threadIdx.x == 0) *state = shared.state;
}

// Each thread makes a pixel of a shifted frame; blockIdx.y counts the rows of some frames.
template <int channels>
__global__ void __launch_bounds__(threads_per_block)
    shift_kernel(cuda::KernelImage<const std::uint8_t> frames, cuda::KernelImage<std::uint8_t> still, int width,
                 int height, const CameraShift* shifts) {
    const int x = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    if (x >= width) return;
    const int frame = static_cast<int>(blockIdx.y) / height, y = static_cast<int>(blockIdx.y) % height;
    const auto shift = shifts[frame];
    const auto inside = [](int at, int size) { return max(0, min(at, size - 1)); };
    const int from_x = x + (shift.x_16th >> 4), from_y = y + (shift.y_16th >> 4);
    const auto* top = frames.row(frame, inside(from_y, height));
    const auto* bottom = frames.row(frame, inside(from_y + 1, height));
    const int left = inside(from_x, width) * channels, right = inside(from_x + 1, width) * channels;
    auto* to = still.row(frame, y) + x * channels;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel)
        to[channel] =
            shifted_byte(__ldg(top + left + channel), __ldg(top + right + channel), __ldg(bottom + left + channel),
                         __ldg(bottom + right + channel), shift.x_16th & 15, shift.y_16th & 15);
}

// Each thread makes a word of a moved mask.
__global__ void __launch_bounds__(threads_per_block)
    move_back_kernel(DeviceBitMaskView<const std::uint32_t> still, DeviceBitMaskView<std::uint32_t> moved,
                     const CameraShift* shifts) {
    const auto& shape = still.shape();
    const auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    if (index >= shape.frames * still.frame_words()) return;
    const auto row = index / still.row_words();
    const int frame = static_cast<int>(row / shape.height), y = static_cast<int>(row % shape.height);
    const auto shift = shifts[frame];
    const int from = y - shift.y_px();
    moved.data()[index] = from < 0 || from >= shape.height
                              ? 0
                              : moved_word(still.row(frame, from), still.row_words(), shape.width,
                                           static_cast<int>(index % still.row_words()), shift.x_px());
}

}  // namespace

void Stabiliser::run(DeviceView<const std::uint8_t> frames, DeviceView<std::uint8_t> still) {
    check(frames, still);
    const int count = frames.shape().frames;
    const bool colour = shape_.channels == 3;
    const auto& stream = executor_->stream();
    if (layout_.is_large_enough()) {
        const auto pixels = std::int64_t{count} * layout_.pixels();
        cuda::Launch(stream, cuda::blocks(pixels, threads_per_block), threads_per_block)(
            colour ? small_kernel<3> : small_kernel<1>, layout_, cuda::KernelImage<const std::uint8_t>(frames), pixels,
            small_.as<std::uint16_t>());
        cuda::Launch(stream, 1, estimate_threads)(estimate_kernel, layout_, count, small_.as<std::uint16_t>(),
                                                  reference_.as<std::uint16_t>(), coarse(),
                                                  state_.as<StabiliserState>(), shift_of_frames());
    }
    cuda::for_frames(count, shape_.height, [&](int first, int some) {
        const dim3 grid(cuda::blocks(shape_.width, threads_per_block), static_cast<unsigned>(some * shape_.height));
        cuda::Launch(stream, grid, threads_per_block)(colour ? shift_kernel<3> : shift_kernel<1>,
                                                      cuda::KernelImage<const std::uint8_t>(frames.frames(first, some)),
                                                      cuda::KernelImage<std::uint8_t>(still.frames(first, some)),
                                                      shape_.width, shape_.height, shift_of_frames() + first);
    });
}

void Stabiliser::move_back(DeviceBitMaskView<const std::uint32_t> still, DeviceBitMaskView<std::uint32_t> moved) const {
    check(still, moved);
    const auto words = still.shape().frames * still.frame_words();
    cuda::Launch(executor_->stream(), cuda::blocks(words, threads_per_block), threads_per_block)(
        move_back_kernel, still, moved, shift_of_frames());
}

}  // namespace framewire
