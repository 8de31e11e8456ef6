#include "framewire/core/error.hpp"
#include "framewire/cuda/kernel.cuh"
#include "ladders/windows/windows_kernels.hpp"

#include <cstddef>

namespace framewire::bench {
namespace {

__constant__ float weights[most_ladder_window * most_ladder_window];

// Each thread reads one pixel of the tile and its halo; pixels outside the image are black.
template <class Value>
__device__ void load_tile(const WindowsJob& job, Value* tile) {
    const int x = static_cast<int>(blockIdx.x) * job.tile + static_cast<int>(threadIdx.x) - job.size / 2;
    const int y = static_cast<int>(blockIdx.y) * job.tile + static_cast<int>(threadIdx.y) - job.size / 2;
    const bool inside = x >= 0 && x < job.width && y >= 0 && y < job.height;
    const auto* pixel = job.in + (std::int64_t{y} * job.width + x) * 3;
    auto* to = tile + (threadIdx.y * blockDim.x + threadIdx.x) * 3;
    for (int channel = 0; channel < 3; ++channel) to[channel] = inside ? pixel[channel] : Value{0};
    __syncthreads();
}

// Returns the address of a thread's result; null if it has none.
__device__ std::uint8_t* result_of(const WindowsJob& job) {
    const int x = static_cast<int>(blockIdx.x) * job.tile + static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(blockIdx.y) * job.tile + static_cast<int>(threadIdx.y);
    const bool has_one = static_cast<int>(threadIdx.x) < job.tile && static_cast<int>(threadIdx.y) < job.tile &&
                         x < job.width && y < job.height;
    return has_one ? job.out + (std::int64_t{y} * job.width + x) * 3 : nullptr;
}

// The report truncates the sums: for a constant image, whose sum in float32 is slightly below its value, it gives the
// next darker one.
template <int size>
__global__ void convolution_tiles(WindowsJob job) {
    extern __shared__ int values[];
    load_tile(job, values);
    auto* result = result_of(job);
    if (!result) return;
    float sums[3] = {};
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            const auto* pixel = values + ((threadIdx.y + i) * blockDim.x + threadIdx.x + j) * 3;
            for (int channel = 0; channel < 3; ++channel)
                sums[channel] += weights[i * size + j] * static_cast<float>(pixel[channel]);
        }
    for (int channel = 0; channel < 3; ++channel)
        result[channel] = static_cast<std::uint8_t>(min(sums[channel] + 0.5f, 255.0f));
}

template <int count>
__device__ std::uint8_t middle_by_bubble_sort(std::uint8_t* values) {
    bool swapped = true;
    for (int pass = 0; pass < count && swapped; ++pass) {
        swapped = false;
        for (int i = 0; i < count - 1; ++i) {
            if (values[i] <= values[i + 1]) continue;
            const auto value = values[i];
            values[i] = values[i + 1];
            values[i + 1] = value;
            swapped = true;
        }
    }
    return values[count / 2];
}

template <int size>
__global__ void median_tiles_bubble_sort(WindowsJob job) {
    extern __shared__ std::uint8_t bytes[];
    load_tile(job, bytes);
    auto* result = result_of(job);
    if (!result) return;
    for (int channel = 0; channel < 3; ++channel) {
        std::uint8_t window[size * size];
        int count = 0;
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j)
                window[count++] = bytes[((threadIdx.y + i) * blockDim.x + threadIdx.x + j) * 3 + channel];
        result[channel] = middle_by_bubble_sort<size * size>(window);
    }
}

template <class Value, class Kernel>
void launch(Kernel* kernel, const WindowsJob& job, const cuda::Stream& stream) {
    const int side = job.tile + job.size - 1;
    if (job.tile < 1 || side > most_window_threads)
        fail(ErrorCode::internal, "a tile with its border must be 1 to 32 pixels wide");
    const dim3 grid(cuda::blocks(job.width, job.tile), cuda::blocks(job.height, job.tile));
    const dim3 block(static_cast<unsigned>(side), static_cast<unsigned>(side));
    cuda::Launch(stream, grid, block, static_cast<std::size_t>(side * side * 3) * sizeof(Value))(kernel, job);
}

}  // namespace

void set_window_weights(const float* weights, int size, const cuda::Stream& stream) {
    stream.queue([&](cudaStream_t handle) {
        cuda::check(cudaMemcpyToSymbolAsync(weights, weights, static_cast<std::size_t>(size * size) * sizeof(float), 0,
                                            cudaMemcpyHostToDevice, handle));
    });
    stream.synchronize();
}

void convolve_in_tiles(const WindowsJob& job, const cuda::Stream& stream) {
    switch (job.size) {
        case 3: return launch<int>(convolution_tiles<3>, job, stream);
        case 4: return launch<int>(convolution_tiles<4>, job, stream);
        case 5: return launch<int>(convolution_tiles<5>, job, stream);
        case 6: return launch<int>(convolution_tiles<6>, job, stream);
        case 7: return launch<int>(convolution_tiles<7>, job, stream);
        case 9: return launch<int>(convolution_tiles<9>, job, stream);
        default: fail(ErrorCode::internal, "convolution windows must be 3 to 7 or 9 pixels wide");
    }
}

void median_in_tiles(const WindowsJob& job, const cuda::Stream& stream) {
    switch (job.size) {
        case 3: return launch<std::uint8_t>(median_tiles_bubble_sort<3>, job, stream);
        case 5: return launch<std::uint8_t>(median_tiles_bubble_sort<5>, job, stream);
        default: fail(ErrorCode::internal, "median windows must be 3 or 5 pixels wide");
    }
}

}  // namespace framewire::bench
