#include "framewire/cuda/kernel.cuh"
#include "ladders/hog/kernels.hpp"
#include "ladders/hog/steps.hpp"

#include <cuda_runtime.h>

namespace framewire::bench::hog_report {
namespace hog_kernels {
namespace {

constexpr unsigned point_threads = 64;      // for kernels that read no neighbours; also the number of histogram bins
constexpr unsigned direction_threads = 32;  // section 6
constexpr int tile_wide = 32, tile_high = 16;
constexpr int sobel_reach = 1;

__constant__ int sobel_across[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
__constant__ int sobel_down[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};

__device__ std::uint32_t thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void grayscale_gpu(const std::uint8_t* bgr, std::uint32_t pixels, std::uint8_t* gray) {
    const auto pixel = thread_index();
    if (pixel >= pixels) return;
    const auto* from = bgr + 3 * pixel;
    gray[pixel] = static_cast<std::uint8_t>((3735 * from[0] + 19235 * from[1] + 9798 * from[2] + 16384) / 32768);
}

__global__ void create_hist_gpu(const std::uint8_t* gray, std::uint32_t pixels, std::uint32_t* counts,
                                std::uint32_t* most) {
    static_assert(point_threads == histogram_bins);
    __shared__ std::uint32_t own_counts[histogram_bins], own_most;
    own_counts[threadIdx.x] = 0;
    if (threadIdx.x == 0) own_most = 0;
    __syncthreads();
    const auto pixel = thread_index();
    std::uint32_t level = pixel < pixels ? gray[pixel] : 0;
    if (pixel < pixels) atomicAdd(&own_counts[level / levels_per_bin], 1u);
    // The first lane takes the maximum of all other lanes' levels, one after the other.
    for (int lane = 1; lane < 32; ++lane) level = max(level, __shfl_sync(0xFFFFFFFFu, level, lane));
    if (threadIdx.x % 32 == 0) atomicMax(&own_most, level);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own_counts[threadIdx.x]);
    if (threadIdx.x == 0) atomicMax(most, own_most);
}

__global__ void apply_gamma_gpu(std::uint8_t* gray, std::uint32_t pixels, double most, double exponent) {
    const auto pixel = thread_index();
    if (pixel < pixels) gray[pixel] = static_cast<std::uint8_t>(lround(most * pow(gray[pixel] / most, exponent)));
}

__global__ void convolutions_gpu(const std::uint8_t* gray, int width, int height, std::int16_t* across,
                                 std::int16_t* down) {
    constexpr int tile_width = tile_wide + 2 * sobel_reach, tile_height = tile_high + 2 * sobel_reach;
    __shared__ std::uint8_t tile[tile_height][tile_width];
    const int left = static_cast<int>(blockIdx.x) * tile_wide, top = static_cast<int>(blockIdx.y) * tile_high;
    const int thread_x = static_cast<int>(threadIdx.x), thread_y = static_cast<int>(threadIdx.y);
    for (int place = thread_y * tile_wide + thread_x; place < tile_width * tile_height;
         place += tile_wide * tile_high) {
        const int x = min(max(left + place % tile_width - sobel_reach, 0), width - 1);
        const int y = min(max(top + place / tile_width - sobel_reach, 0), height - 1);
        tile[place / tile_width][place % tile_width] = gray[y * width + x];
    }
    __syncthreads();
    const int x = left + thread_x, y = top + thread_y;
    if (x >= width || y >= height) return;
    int sum_across = 0, sum_down = 0;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const int level = tile[thread_y + row][thread_x + column];
            sum_across += level * sobel_across[row * 3 + column];
            sum_down += level * sobel_down[row * 3 + column];
        }
    across[y * width + x] = static_cast<std::int16_t>(sum_across);
    down[y * width + x] = static_cast<std::int16_t>(sum_down);
}

__global__ void mag_dir_gpu(const std::int16_t* across, const std::int16_t* down, std::uint32_t pixels,
                            float* magnitudes, float* directions) {
    const auto pixel = thread_index();
    if (pixel >= pixels) return;
    const auto x = static_cast<float>(across[pixel]), y = static_cast<float>(down[pixel]);
    magnitudes[pixel] = sqrtf(x * x + y * y);
    float degrees = atan2f(y, x) * 57.2957795f;
    if (degrees < 0) degrees += 180;
    directions[pixel] = degrees >= 180 ? 0 : degrees;
}

__global__ void hog_gpu(const float* magnitudes, const float* directions, int width, int height, float* descriptors) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int columns = width / cell_px, rows = height / cell_px;
    if (x >= columns * cell_px || y >= rows * cell_px) return;
    const float magnitude = magnitudes[y * width + x];
    const float from_first = directions[y * width + x] / bin_degrees - 0.5f;
    const float lower = floorf(from_first), share = from_first - lower;
    const int bin = (static_cast<int>(lower) + direction_bins) % direction_bins;
    auto* cell = descriptors + (y / cell_px * columns + x / cell_px) * direction_bins;
    atomicAdd(cell + bin, magnitude * (1 - share));
    atomicAdd(cell + (bin + 1) % direction_bins, magnitude * share);
}

unsigned blocks_of(std::uint32_t count, unsigned each) { return (count + each - 1) / each; }

}  // namespace
}  // namespace hog_kernels

using namespace hog_kernels;

void queue_grayscale(const std::uint8_t* bgr, std::uint32_t pixels, std::uint8_t* gray, const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of(pixels, point_threads), point_threads)(grayscale_gpu, bgr, pixels, gray);
}

void queue_histogram(const std::uint8_t* gray, std::uint32_t pixels, std::uint32_t* counts, std::uint32_t* most,
                     const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of(pixels, point_threads), point_threads)(create_hist_gpu, gray, pixels, counts, most);
}

void queue_gamma(std::uint8_t* gray, std::uint32_t pixels, double most, double exponent, const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of(pixels, point_threads), point_threads)(apply_gamma_gpu, gray, pixels, most,
                                                                          exponent);
}

void queue_gradients(const std::uint8_t* gray, int width, int height, std::int16_t* across, std::int16_t* down,
                     const cuda::Stream& stream) {
    const dim3 grid(blocks_of(static_cast<std::uint32_t>(width), tile_wide),
                    blocks_of(static_cast<std::uint32_t>(height), tile_high));
    cuda::Launch(stream, grid, dim3(tile_wide, tile_high))(convolutions_gpu, gray, width, height, across, down);
}

void queue_magnitudes_and_directions(const std::int16_t* across, const std::int16_t* down, std::uint32_t pixels,
                                     float* magnitudes, float* directions, const cuda::Stream& stream) {
    cuda::Launch(stream, blocks_of(pixels, direction_threads), direction_threads)(mag_dir_gpu, across, down, pixels,
                                                                                  magnitudes, directions);
}

void queue_votes(const float* magnitudes, const float* directions, int width, int height, int block_px,
                 float* descriptors, const cuda::Stream& stream) {
    const auto side = static_cast<unsigned>(block_px);
    const dim3 grid(blocks_of(static_cast<std::uint32_t>(width), side),
                    blocks_of(static_cast<std::uint32_t>(height), side));
    cuda::Launch(stream, grid, dim3(side, side))(hog_gpu, magnitudes, directions, width, height, descriptors);
}

}  // namespace framewire::bench::hog_report
