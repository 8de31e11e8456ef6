#include "framewire/cuda/kernel.cuh"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/noise/noise_kernels.hpp"
#include "ladders/pictures/chunk_loop.cuh"

namespace framewire::bench {
namespace {

// Calls of_byte(place, is_noisy) for each byte; is_noisy covers the pixel's bytes up to this one. The report's threads
// start inside pixels and omit the last ones, and one of its kernels stores a difference in 8 bits, which is too few.
template <class OfByte>
__device__ void for_noise(const PictureBuffers& at, int chunks, int each, OfByte&& of_byte) {
    bool is_noisy = false;
    for_chunk_bytes<int4>(at.current, at.previous, chunks, each, [&](int place, int now, int before) {
        const int difference = now - before;
        if (difference < -ladder_threshold || difference > ladder_threshold) is_noisy = true;
        of_byte(place, is_noisy);
        if (place % 3 == 2) is_noisy = false;
    });
}

__global__ void __launch_bounds__(1024) noise_all_bytes(PictureBuffers at, int chunks, int each) {
    for_noise(at, chunks, each, [&](int place, bool is_noisy) {
        at.out[place] = static_cast<std::uint8_t>(place % 3 == 2 && is_noisy ? 255 : 0);
    });
}

__global__ void __launch_bounds__(1024) noise_red_bytes(PictureBuffers at, int chunks, int each) {
    for_noise(at, chunks, each, [&](int place, bool is_noisy) {
        if (place % 3 == 2) at.out[place] = static_cast<std::uint8_t>(is_noisy ? 255 : 0);
    });
}

__global__ void __launch_bounds__(1024) noise_red_where_noisy(PictureBuffers at, int chunks, int each) {
    for_noise(at, chunks, each, [&](int place, bool is_noisy) {
        if (place % 3 == 2 && is_noisy) at.out[place] = 255;
    });
}

__global__ void __launch_bounds__(1024) noise_over_previous(PictureBuffers at, int chunks, int each) {
    for_noise(at, chunks, each, [&](int place, bool is_noisy) {
        if (place % 3 == 2 && is_noisy) at.previous[place] = 255;
    });
}

// The report divides integers before rounding up, and so omits the last positions.
__global__ void __launch_bounds__(1024) noise_from_positions(const std::uint32_t* positions, std::uint32_t count,
                                                             std::uint32_t each, std::uint8_t* picture) {
    const auto begin = threadIdx.x * each;
    const auto end = min(begin + each, count);
    for (auto i = begin; i < end; ++i) picture[positions[i] + (2 - positions[i] % 3)] = 255;
}

void launch(void (*kernel)(PictureBuffers, int, int), const PictureBuffers& buffers, int threads,
            const cuda::Stream& stream) {
    constexpr int chunk = sizeof(int4);
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(kernel, buffers, static_cast<int>(buffers.bytes / chunk),
                                                            chunks_each(buffers.bytes, chunk, threads));
}

}  // namespace

void launch_noise_all_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    launch(noise_all_bytes, buffers, threads, stream);
}

void launch_noise_red_bytes(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    launch(noise_red_bytes, buffers, threads, stream);
}

void launch_noise_red_where_noisy(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    launch(noise_red_where_noisy, buffers, threads, stream);
}

void launch_noise_over_previous(const PictureBuffers& buffers, int threads, const cuda::Stream& stream) {
    launch(noise_over_previous, buffers, threads, stream);
}

void launch_noise_from_positions(const std::uint32_t* positions, std::uint32_t count, std::uint8_t* picture,
                                 int threads, const cuda::Stream& stream) {
    if (count == 0) return;
    const auto each = (count + static_cast<std::uint32_t>(threads) - 1) / static_cast<std::uint32_t>(threads);
    cuda::Launch(stream, 1, static_cast<unsigned>(threads))(noise_from_positions, positions, count, each, picture);
}

}  // namespace framewire::bench
