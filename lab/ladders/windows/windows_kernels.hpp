#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// A dense three-channel frame in device memory with black around it, under windows of `size` x `size` pixels; windows
/// of even size extend one pixel further to the left and up. A block computes a tile of `tile` x `tile` pixels with
/// (tile + size - 1)^2 threads, at most 32 per side (streaming and filters report of 2022, section 6.4).
struct WindowsJob {
    const std::uint8_t* in = nullptr;
    std::uint8_t* out = nullptr;
    int width = 0, height = 0;
    int size = 0, tile = 0;
};

inline constexpr int most_window_threads = 32;  ///< maximum threads of a block per side
inline constexpr int most_ladder_window = 9;

/// Copies the size x size weights of the next convolutions to constant memory; returns when the copy is done.
void set_window_weights(const float* weights, int size, const cuda::Stream& stream);
/// Queues a convolution on `stream`: sums of float32 products, rounded to nearest. For sizes 3 to 7 and 9.
void convolve_in_tiles(const WindowsJob& job, const cuda::Stream& stream);
/// Queues a median on `stream`: the middle of the window's values after a bubble sort (section 6.5). For sizes 3 and 5.
void median_in_tiles(const WindowsJob& job, const cuda::Stream& stream);

}  // namespace framewire::bench
