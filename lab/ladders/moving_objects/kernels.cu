#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/window.hpp"
#include "ladders/moving_objects/kernels.hpp"

#include <cuda_runtime.h>

// Kernels have the report's names, and variants that it compares are named by their difference. Threads beyond the
// picture do nothing; the report's initCCL, mergeCCL and compressCCL have no such guard and read past the image's end.

namespace framewire::bench::moving_objects {
namespace {

constexpr int matrix_cells = matrix_px * matrix_px;

__constant__ float constant_blur[matrix_cells];
__constant__ std::uint8_t constant_disc[matrix_cells];

struct Pixel {
    int x, y, index;
    bool inside;
};

__device__ Pixel pixel_of(FrameSize size) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    return {x, y, y * size.width + x, x < size.width && y < size.height};
}

__device__ bool is_inside(FrameSize size, int x, int y) {
    return x >= 0 && x < size.width && y >= 0 && y < size.height;
}

__device__ int mirrored_index(FrameSize size, int x, int y) {
    return border_index(y, size.height, Border::reflect101) * size.width +
           border_index(x, size.width, Border::reflect101);
}

__global__ void grayscale_each_pixel(FrameSize size, const std::uint8_t* bgr, std::uint8_t* gray) {
    const auto pixel = pixel_of(size);
    if (!pixel.inside) return;
    const auto* from = bgr + 3 * pixel.index;
    gray[pixel.index] = static_cast<std::uint8_t>((3735 * from[0] + 19235 * from[1] + 9798 * from[2] + 16384) / 32768);
}

__global__ void difference_each_pixel(FrameSize size, const std::uint8_t* one, const std::uint8_t* other,
                                      std::uint8_t* out) {
    const auto pixel = pixel_of(size);
    if (pixel.inside) out[pixel.index] = static_cast<std::uint8_t>(abs(one[pixel.index] - other[pixel.index]));
}

__global__ void threshold_each_pixel(FrameSize size, std::uint8_t* image) {
    const auto pixel = pixel_of(size);
    if (pixel.inside) image[pixel.index] = image[pixel.index] > foreground_threshold ? 255 : 0;
}

// Sums of multiples of 2^-16 up to 255 are exact in a float, in any order.
__device__ std::uint8_t rounded(float sum) { return static_cast<std::uint8_t>(sum + 0.5f); }

__global__ void blur_global_memory(FrameSize size, const float* matrix, const std::uint8_t* in, std::uint8_t* out) {
    const auto pixel = pixel_of(size);
    if (!pixel.inside) return;
    float sum = 0;
    for (int row = 0; row < matrix_px; ++row)
        for (int column = 0; column < matrix_px; ++column)
            sum += matrix[row * matrix_px + column] *
                   in[mirrored_index(size, pixel.x + column - matrix_reach_px, pixel.y + row - matrix_reach_px)];
    out[pixel.index] = rounded(sum);
}

template <bool erodes>
__device__ std::uint8_t joined(std::uint8_t value, std::uint8_t other) {
    return (erodes ? other < value : other > value) ? other : value;
}

// Returns a value for pixels outside the picture that has no effect.
template <bool erodes>
__device__ constexpr std::uint8_t neutral() {
    return erodes ? 255 : 0;
}

template <bool erodes>
__device__ void morphology_global_memory(FrameSize size, const std::uint8_t* disc, const std::uint8_t* in,
                                         std::uint8_t* out) {
    const auto pixel = pixel_of(size);
    if (!pixel.inside) return;
    auto value = neutral<erodes>();
    for (int row = 0; row < matrix_px; ++row)
        for (int column = 0; column < matrix_px; ++column) {
            const int x = pixel.x + column - matrix_reach_px, y = pixel.y + row - matrix_reach_px;
            if (disc[row * matrix_px + column] && is_inside(size, x, y))
                value = joined<erodes>(value, in[y * size.width + x]);
        }
    out[pixel.index] = value;
}

__global__ void dilate_global_memory(FrameSize size, const std::uint8_t* disc, const std::uint8_t* in,
                                     std::uint8_t* out) {
    morphology_global_memory<false>(size, disc, in, out);
}

__global__ void erode_global_memory(FrameSize size, const std::uint8_t* disc, const std::uint8_t* in,
                                    std::uint8_t* out) {
    morphology_global_memory<true>(size, disc, in, out);
}

// Loads all pixels that a block's windows cover, in raster order, as many at a time as the block has threads (figure
// 11); returns when they are complete. `at(x, y)` returns a pixel of the picture, or its replacement outside.
template <class At>
__device__ void load_tile(std::uint8_t* tile, At&& at) {
    const int threads = static_cast<int>(blockDim.x * blockDim.y);
    const int side = static_cast<int>(blockDim.x) + matrix_px - 1;
    const int left = static_cast<int>(blockIdx.x * blockDim.x) - matrix_reach_px;
    const int top = static_cast<int>(blockIdx.y * blockDim.y) - matrix_reach_px;
    for (int place = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); place < side * side; place += threads)
        tile[place] = at(left + place % side, top + place / side);
    __syncthreads();
}

// Returns the first of the tile's pixels that a thread's window covers.
__device__ const std::uint8_t* window_of(const std::uint8_t* tile, int row) {
    return tile + (threadIdx.y + static_cast<unsigned>(row)) * (blockDim.x + matrix_px - 1) + threadIdx.x;
}

extern __shared__ std::uint8_t tile_bytes[];

__global__ void blur_tiled_constant(FrameSize size, const std::uint8_t* in, std::uint8_t* out) {
    // Blocks reach further beyond the picture than its mirror image does. No window of a pixel inside the picture
    // covers that area.
    load_tile(tile_bytes, [=](int x, int y) { return in[mirrored_index(size, x, y)]; });
    const auto pixel = pixel_of(size);
    if (!pixel.inside) return;
    float sum = 0;
    for (int row = 0; row < matrix_px; ++row)
        for (int column = 0; column < matrix_px; ++column)
            sum += constant_blur[row * matrix_px + column] * window_of(tile_bytes, row)[column];
    out[pixel.index] = rounded(sum);
}

template <bool erodes>
__device__ void morphology_tiled_constant(FrameSize size, const std::uint8_t* in, std::uint8_t* out) {
    load_tile(tile_bytes,
              [=](int x, int y) { return is_inside(size, x, y) ? in[y * size.width + x] : neutral<erodes>(); });
    const auto pixel = pixel_of(size);
    if (!pixel.inside) return;
    auto value = neutral<erodes>();
    for (int row = 0; row < matrix_px; ++row)
        for (int column = 0; column < matrix_px; ++column)
            if (constant_disc[row * matrix_px + column])
                value = joined<erodes>(value, window_of(tile_bytes, row)[column]);
    out[pixel.index] = value;
}

__global__ void dilate_tiled_constant(FrameSize size, const std::uint8_t* in, std::uint8_t* out) {
    morphology_tiled_constant<false>(size, in, out);
}

__global__ void erode_tiled_constant(FrameSize size, const std::uint8_t* in, std::uint8_t* out) {
    morphology_tiled_constant<true>(size, in, out);
}

// Returns the root of a label. Other threads merge trees at the same time, so labels are read from memory each time.
__device__ int root_of(const std::int32_t* labels, int index) {
    const volatile std::int32_t* now = labels;
    for (int parent = now[index] - 1; parent != index; parent = now[index] - 1) index = parent;
    return index;
}

__device__ void unite(std::int32_t* labels, int one, int other) {
    while (true) {
        one = root_of(labels, one);
        other = root_of(labels, other);
        if (one == other) return;
        const int upper = max(one, other), lower = min(one, other);
        const int before = atomicMin(labels + upper, lower + 1) - 1;
        if (before == upper) return;  // it was still a root
        one = before;
        other = lower;
    }
}

__global__ void init_ccl(FrameSize size, const std::uint8_t* mask, std::int32_t* labels) {
    const auto pixel = pixel_of(size);
    if (pixel.inside) labels[pixel.index] = mask[pixel.index] ? pixel.index + 1 : 0;
}

__global__ void merge_ccl(FrameSize size, const std::uint8_t* mask, std::int32_t* labels) {
    const auto pixel = pixel_of(size);
    if (!pixel.inside || !mask[pixel.index]) return;
    for (int neighbour = 0; neighbour < 4; ++neighbour) {  // the three above, and the one on the left
        const int x = neighbour < 3 ? pixel.x - 1 + neighbour : pixel.x - 1;
        const int y = neighbour < 3 ? pixel.y - 1 : pixel.y;
        if (is_inside(size, x, y) && mask[y * size.width + x]) unite(labels, pixel.index, y * size.width + x);
    }
}

__global__ void compress_ccl(FrameSize size, const std::uint8_t* mask, std::int32_t* labels) {
    const auto pixel = pixel_of(size);
    if (pixel.inside && mask[pixel.index]) labels[pixel.index] = root_of(labels, pixel.index) + 1;
}

template <class... Parameters, class... Arguments>
void queue_kernel(void (*kernel)(FrameSize, Parameters...), const BlockLaunch& launch, std::size_t shared_bytes,
                  Arguments... arguments) {
    const auto side = static_cast<unsigned>(launch.block_px);
    const dim3 grid((static_cast<unsigned>(launch.size.width) + side - 1) / side,
                    (static_cast<unsigned>(launch.size.height) + side - 1) / side);
    cuda::Launch(launch.stream, grid, dim3(side, side), shared_bytes)(kernel, launch.size, arguments...);
}

std::size_t tile_size_bytes(const BlockLaunch& launch) {
    const auto side = static_cast<std::size_t>(launch.block_px + matrix_px - 1);
    return side * side;
}

}  // namespace

void queue_grayscale(const BlockLaunch& launch, const std::uint8_t* bgr, std::uint8_t* gray) {
    queue_kernel(grayscale_each_pixel, launch, 0, bgr, gray);
}

void queue_difference(const BlockLaunch& launch, const std::uint8_t* one, const std::uint8_t* other,
                      std::uint8_t* out) {
    queue_kernel(difference_each_pixel, launch, 0, one, other, out);
}

void queue_threshold(const BlockLaunch& launch, std::uint8_t* image) {
    queue_kernel(threshold_each_pixel, launch, 0, image);
}

void queue_blur(const BlockLaunch& launch, const float* matrix, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(blur_global_memory, launch, 0, matrix, in, out);
}

void queue_dilate(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(dilate_global_memory, launch, 0, disc, in, out);
}

void queue_erode(const BlockLaunch& launch, const std::uint8_t* disc, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(erode_global_memory, launch, 0, disc, in, out);
}

void queue_matrices(const float* blur, const std::uint8_t* disc, const cuda::Stream& stream) {
    stream.queue([&](cudaStream_t handle) {
        cuda::check(
            cudaMemcpyToSymbolAsync(constant_blur, blur, sizeof constant_blur, 0, cudaMemcpyHostToDevice, handle));
        cuda::check(
            cudaMemcpyToSymbolAsync(constant_disc, disc, sizeof constant_disc, 0, cudaMemcpyHostToDevice, handle));
    });
}

void queue_blur_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(blur_tiled_constant, launch, tile_size_bytes(launch), in, out);
}

void queue_dilate_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(dilate_tiled_constant, launch, tile_size_bytes(launch), in, out);
}

void queue_erode_tiled(const BlockLaunch& launch, const std::uint8_t* in, std::uint8_t* out) {
    queue_kernel(erode_tiled_constant, launch, tile_size_bytes(launch), in, out);
}

void queue_init_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels) {
    queue_kernel(init_ccl, launch, 0, mask, labels);
}

void queue_merge_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels) {
    queue_kernel(merge_ccl, launch, 0, mask, labels);
}

void queue_compress_labels(const BlockLaunch& launch, const std::uint8_t* mask, std::int32_t* labels) {
    queue_kernel(compress_ccl, launch, 0, mask, labels);
}

}  // namespace framewire::bench::moving_objects
