#include "framewire/cuda/kernel.cuh"
#include "ladders/heatmap/heatmap_kernels.hpp"
#include "ladders/pictures/chunk_loop.cuh"

namespace framewire::bench {
namespace {

// Stores the colour of a pixel whose bytes differ by `sum`. Uses the report's sines: three per pixel, with double
// constants. The report truncates where this rounds, and one of its kernels divides by 510.
__device__ __noinline__ void store_colour(std::uint8_t* out, int sum) {
    constexpr double pi = 3.14159265358979323846;
    const float share = static_cast<float>(sum / 765.0);
    const auto colour = [](double angle) {
        const double value = sinf(static_cast<float>(angle)) * 255.0;
        return static_cast<std::uint8_t>(fminf(fmaxf(static_cast<float>(value), 0.0f), 255.0f) + 0.5f);
    };
    out[0] = colour(pi * share + pi / 2);
    out[1] = colour(pi * share);
    out[2] = colour(pi * share - pi / 2);
}

__global__ void __launch_bounds__(1024) heatmap_bytes(PictureBuffers at, int pixels, int pixels_each) {
    const int begin = static_cast<int>(threadIdx.x) * pixels_each;
    const int end = min(begin + pixels_each, pixels);
    for (int i = 3 * begin; i < 3 * end; i += 3)
        store_colour(at.out + i, abs(at.current[i] - at.previous[i]) + abs(at.current[i + 1] - at.previous[i + 1]) +
                                     abs(at.current[i + 2] - at.previous[i + 2]));
}

// The report's sums read beyond their chunk if a pixel continues in the next one; here a sum continues with the next
// chunk.
template <class Chunk>
__device__ void colour_chunks(const PictureBuffers& at, int chunks, int each) {
    int sum = 0;
    for_chunk_bytes<Chunk>(at.current, at.previous, chunks, each, [&](int place, int now, int before) {
        sum += abs(now - before);
        if (place % 3 != 2) return;
        store_colour(at.out + place - 2, sum);
        sum = 0;
    });
}

__global__ void __launch_bounds__(1024) heatmap_chunks_4(PictureBuffers at, int chunks, int each) {
    colour_chunks<int>(at, chunks, each);
}

__global__ void __launch_bounds__(1024) heatmap_chunks_32(PictureBuffers at, int chunks, int each) {
    colour_chunks<Chunk32>(at, chunks, each);
}

}  // namespace

void launch_heatmap_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    const int pixels = static_cast<int>(buffers.bytes / 3);
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(heatmap_bytes, buffers, pixels,
                                                            (pixels + threads - 1) / threads);
}

void launch_heatmap_chunks_4(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(
        heatmap_chunks_4, buffers, static_cast<int>(buffers.bytes / 4), chunks_each(buffers.bytes, 4, threads));
}

void launch_heatmap_chunks_32(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(
        heatmap_chunks_32, buffers, static_cast<int>(buffers.bytes / 32), chunks_each(buffers.bytes, 32, threads));
}

}  // namespace framewire::bench
