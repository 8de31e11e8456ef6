#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/convolve/convolve.hpp"

#include <algorithm>
#include <cstdint>

// A block has the pixels that its results see in shared memory.

namespace framewire {
namespace convolve_kernels {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr int tile_height = 16;  // of a block's results; as wide as the block
constexpr int most_reach = max_convolve_size / 2;
constexpr int seen_width = block_width + 2 * most_reach, seen_height = tile_height + 2 * most_reach;

struct ConvolveJob {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> out;
    int width, height, reach, divisor, bias;
    Border border;
    int taps;
    std::int16_t weights[max_convolve_size * max_convolve_size];
    std::int8_t right[max_convolve_size * max_convolve_size], down[max_convolve_size * max_convolve_size];
};

template <int channels>
__global__ void __launch_bounds__(block_width* block_height) convolve_kernel(__grid_constant__ const ConvolveJob job) {
    __shared__ std::uint8_t seen[seen_height][seen_width * channels];
    const int x_begin = static_cast<int>(blockIdx.x) * block_width,
              y_begin = static_cast<int>(blockIdx.y) * tile_height;
    const int frame = static_cast<int>(blockIdx.z);
    for (int row = static_cast<int>(threadIdx.y); row < tile_height + 2 * job.reach; row += block_height) {
        const int y = border_index(y_begin + row - job.reach, job.height, job.border);
        const auto* from = y < 0 ? nullptr : job.in.row(frame, y);
        for (int column = static_cast<int>(threadIdx.x); column < block_width + 2 * job.reach; column += block_width) {
            const int x = border_index(x_begin + column - job.reach, job.width, job.border);
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                seen[row][column * channels + channel] = from && x >= 0 ? from[x * channels + channel] : 0;
        }
    }
    __syncthreads();
    const int x = x_begin + static_cast<int>(threadIdx.x);
    if (x >= job.width) return;
    for (int row = static_cast<int>(threadIdx.y); row < tile_height && y_begin + row < job.height;
         row += block_height) {
        int sums[channels];
        for (auto& sum : sums) sum = job.bias;
        for (int tap = 0; tap < job.taps; ++tap) {
            const auto* bytes = seen[row + job.reach + job.down[tap]] +
                                (static_cast<int>(threadIdx.x) + job.reach + job.right[tap]) * channels;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) sums[channel] += job.weights[tap] * bytes[channel];
        }
        auto* out = job.out.row(frame, y_begin + row) + x * channels;
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            out[channel] = static_cast<std::uint8_t>(min(max(sums[channel], 0), 256 * job.divisor - 1) / job.divisor);
    }
}

}  // namespace
}  // namespace convolve_kernels

void Convolve::run(const FilterImages<MemorySpace::device>& images) const {
    using namespace convolve_kernels;
    validate(images.in, shape_, "convolve's image");
    validate(images.out, shape_, "convolve's result");
    ConvolveJob job{};
    job.width = shape_.width;
    job.height = shape_.height;
    job.reach = size_ / 2;
    job.divisor = divisor_;
    job.bias = divisor_ / 2 + offset_ * divisor_;
    job.border = border_;
    job.taps = static_cast<int>(taps_.size());
    for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
        job.weights[tap] = taps_[tap].weight;
        job.right[tap] = static_cast<std::int8_t>(taps_[tap].right);
        job.down[tap] = static_cast<std::int8_t>(taps_[tap].down);
    }
    const cuda::KernelImage in(images.in);
    const cuda::KernelImage out(images.out);
    const auto stream = executor_->stream().handle();
    cuda::for_frames(shape_.frames, 1, [&](int first, int frames) {
        job.in = in.from_frame(first);
        job.out = out.from_frame(first);
        const dim3 grid(cuda::blocks(shape_.width, block_width), cuda::blocks(shape_.height, tile_height),
                        static_cast<unsigned>(frames)),
            block(block_width, block_height);
        if (shape_.channels == 3)
            convolve_kernel<3><<<grid, block, 0, stream>>>(job);
        else
            convolve_kernel<1><<<grid, block, 0, stream>>>(job);
    });
}

}  // namespace framewire
