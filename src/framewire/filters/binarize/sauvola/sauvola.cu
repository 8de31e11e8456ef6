#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/filters/binarize/sauvola/sauvola.hpp"
#include "framewire/filters/gray_input/gray_groups.cuh"

#include <algorithm>
#include <cstdint>

// A block walks down a strip of columns. Each thread keeps the sums of four columns over the window's rows in
// registers: a row enters, another leaves. A scan over the block then makes prefix sums of the columns in shared
// memory, of which any window's sum is one difference, so the work a pixel does not depend on the window; only the
// columns and rows around a strip that the window needs beside the strip's own grow with it.

namespace framewire {
namespace sauvola_kernels {
namespace {

constexpr int threads_per_block = 128;
constexpr int warps_per_block = threads_per_block / 32;
constexpr int columns_per_thread = 4;
constexpr int columns_per_block = threads_per_block * columns_per_thread;
static_assert(columns_per_block >= 2 * max_sauvola_window, "a strip has columns of its own beside the window's");

struct Job {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int height, width, radius;
    int left;  // columns before a strip's own: more than the radius, a multiple of 4 for the sake of word loads
    int strip_columns;  // of a strip's own
    int band_rows;
    float k;
};

// The gray values of columns x to x + 3, one a byte; 0 outside the image.
template <int channels, bool aligned>
__device__ std::uint32_t load_four(const std::uint8_t* row, int x, int width, const SplitWeights& weights) {
    if (aligned && x >= 0 && x + columns_per_thread <= width) {
        const auto* words = reinterpret_cast<const std::uint32_t*>(row + x * channels);
        if constexpr (channels == 1) return __ldg(words);
        return gray_of_four(__ldg(words), __ldg(words + 1), __ldg(words + 2), weights);
    }
    std::uint32_t four = 0;
    for (int i = 0; i < columns_per_thread; ++i)
        if (x + i >= 0 && x + i < width)
            four |= load_gray_pixel<channels>(row + (x + i) * channels, weights) << (8 * i);
    return four;
}

template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block) sauvola_kernel(Job job, SplitWeights weights) {
    // Every thread writes the first between the second barrier of one row and the first of the next, and the others
    // between a row's two barriers; they are read in the other halves.
    __shared__ cuda::BlockScan<WindowSums, warps_per_block> scan;
    __shared__ int4 value_prefix[threads_per_block];  // of all columns up to and including this one
    __shared__ int4 square_prefix[threads_per_block];

    const int strip = static_cast<int>(blockIdx.x) * job.strip_columns;
    const int begin = static_cast<int>(blockIdx.y) * job.band_rows;
    const int end = min(begin + job.band_rows, job.height);
    const int first_column = strip - job.left;
    const int own_column = first_column + static_cast<int>(threadIdx.x) * columns_per_thread;
    const auto* in = job.in.data + blockIdx.z * job.in.frame_stride;
    auto* out = job.out.data + blockIdx.z * job.out.frame_stride;

    WindowSums columns[columns_per_thread] = {};
    const auto add_row = [&](int y, bool entering) {
        if (y < 0 || y >= job.height) return;
        const auto four = load_four<channels, aligned>(in + y * job.in.row_stride, own_column, job.width, weights);
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) {
            const int x = own_column + i;
            if (x < 0 || x >= job.width) continue;
            const int value = static_cast<int>(four >> (8 * i) & 255u) - 128;
            const WindowSums one{value, value * value};
            columns[i] = entering ? columns[i] + one : columns[i] - one;
        }
    };
    for (int y = begin - job.radius; y < begin + job.radius; ++y) add_row(y, true);

    for (int y = begin; y < end; ++y) {
        add_row(y + job.radius, true);
        if (y > begin) add_row(y - job.radius - 1, false);

        WindowSums up_to[columns_per_thread];
        up_to[0] = columns[0];
#pragma unroll
        for (int i = 1; i < columns_per_thread; ++i) up_to[i] = up_to[i - 1] + columns[i];
        const auto own = up_to[columns_per_thread - 1];
        const auto in_warp = scan.begin(own);
        __syncthreads();
        const auto before = scan.end(in_warp).before;
#pragma unroll
        for (int i = 0; i < columns_per_thread; ++i) up_to[i] = before + up_to[i];
        value_prefix[threadIdx.x] = {up_to[0].values, up_to[1].values, up_to[2].values, up_to[3].values};
        square_prefix[threadIdx.x] = {up_to[0].squares, up_to[1].squares, up_to[2].squares, up_to[3].squares};
        __syncthreads();

        const auto prefix = [&](int column) -> WindowSums {
            return {reinterpret_cast<const std::int32_t*>(value_prefix)[column],
                    reinterpret_cast<const std::int32_t*>(square_prefix)[column]};
        };
        const int rows = min(y + job.radius + 1, job.height) - max(y - job.radius, 0);
        // Neighbouring threads take neighbouring columns: neither shared nor global accesses get in each other's way.
        for (int column = threadIdx.x; column < job.strip_columns; column += threads_per_block) {
            const int x = strip + column;
            if (x >= job.width) break;
            const auto sums = prefix(column + job.left + job.radius) - prefix(column + job.left - job.radius - 1);
            const int in_row = min(x + job.radius + 1, job.width) - max(x - job.radius, 0);
            const float threshold = sauvola_threshold(sums, static_cast<float>(rows * in_row), job.k);
            const auto gray = load_gray_pixel<channels>(in + y * job.in.row_stride + x * channels, weights);
            const std::uint8_t white = static_cast<float>(gray) > threshold ? 255 : 0;
            for (int channel = 0; channel < channels; ++channel)
                out[y * job.out.row_stride + x * channels + channel] = white;
        }
    }
}

}  // namespace
}  // namespace sauvola_kernels

FilterOnDevice Sauvola::plan_for_cuda() const {
    using namespace sauvola_kernels;
    const int radius = parameters_.window / 2;
    const int left = radius / 4 * 4 + 4;
    Job job{.height = shape_.height,
            .width = shape_.width,
            .radius = radius,
            .left = left,
            .strip_columns = (columns_per_block - left - radius) / 4 * 4,
            .k = static_cast<float>(parameters_.k)};
    // A band's first window costs as many rows as the window has: short bands where few frames leave a GPU idle, tall
    // ones where there is work for all of it.
    const auto strips = cuda::parts(shape_.width, job.strip_columns);
    constexpr std::int64_t wanted_blocks = 1024;
    const auto rows_for_all = std::int64_t{shape_.height} * strips * shape_.frames / wanted_blocks;
    job.band_rows =
        static_cast<int>(std::clamp<std::int64_t>(rows_for_all, parameters_.window, 4 * max_sauvola_window));
    const auto bands = cuda::parts(shape_.height, job.band_rows);
    const bool colour = shape_.channels == 3;
    const auto words_kernel = colour ? sauvola_kernel<3, true> : sauvola_kernel<1, true>;
    const auto bytes_kernel = colour ? sauvola_kernel<3, false> : sauvola_kernel<1, false>;
    return [=, weights = split(gray_weights(GrayMethod::weighted)),
            executor = executor_](const FilterImages<MemorySpace::device>& images) {
        const cuda::KernelImage in(images.in);
        const cuda::KernelImage out(images.out);
        const auto kernel = in.aligned_to(4) ? words_kernel : bytes_kernel;
        cuda::for_frames(images.in.shape().frames, 1, [&](int first, int frames) {
            auto part = job;
            part.in = in.from_frame(first);
            part.out = out.from_frame(first);
            const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(bands), static_cast<unsigned>(frames));
            kernel<<<grid, threads_per_block, 0, executor->stream().handle()>>>(part, weights);
        });
    };
}

void Sauvola::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "binarize's image");
    validate(images.out, shape_, "binarize's result");
    on_device_(images);
}

}  // namespace framewire
